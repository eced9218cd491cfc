import cluster from 'node:cluster'
import { createServer, type ServerOptions } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { prometheusMetrics, topKeys } from 'sluice/observe'
import { createEngine, type Engine, hashKeys, type Policy, type Pseudonym } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import { type Io, warningTo } from '../cli/io.ts'
import { readinessOf } from '../endpoints/health.ts'
import { adminAccess, readAdminToken } from '../http/admin.ts'
import { type ConnectionBounds, connectionMetrics } from '../http/connection-bound.ts'
import { watchConnections } from '../http/connections.ts'
import { isLoopback, type ListenAt } from '../http/port.ts'
import { createService } from '../http/service.ts'
import { serviceMetrics } from '../http/service-metrics.ts'
import { guardSite, type HostCheck, hostsAllowed } from '../http/site-guard.ts'
import { createIdentities, type Identities } from '../identity/identities.ts'
import { tokenCounts } from '../identity/verifier.ts'
import { countedBy } from '../page/busiest-keys.ts'
import { createLive } from '../page/live.ts'
import { holdOverrides, takeOverride } from '../policy/held-overrides.ts'
import { type HeldPolicy, holdPolicy, inOneLine } from '../policy/held-policy.ts'
import { readPolicyText } from '../policy/read-policy.ts'
import { printWarnings, reloading } from '../policy/reloading.ts'
import { surrounded } from '../stores/ring.ts'
import { openServing } from '../stores/serving-store.ts'
import type { Beginning, RelayedOverride, RelayedPolicy } from '../workers/messages.ts'
import { relayPolicies } from '../workers/shared-state.ts'
import { type Group, oneProcess, workerGroup } from '../workers/worker-group.ts'

export interface ServeOptions {
  readonly policy: string | undefined
  readonly store: string | undefined
  readonly listen: ListenAt
  readonly demo: boolean
  /** Whether an unreachable store ends the service before it begins. */
  readonly requireStore: boolean
  readonly adminTokenFile: string | undefined
  readonly connections: ConnectionBounds
  readonly allowedHosts: readonly string[]
}

const DEMO_POLICY = fileURLToPath(new URL('../../policies/rate-limiting-at-scale.yaml', import.meta.url))
/** Milliseconds that responses under way have to finish after SIGTERM, and then the store to close: less than five seconds together. */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

const SERVER_OPTIONS: ServerOptions = {
  // Milliseconds a request may take to arrive. A decision takes at most a deadline, so a slow request only occupies a connection.
  requestTimeout: 10_000,
  headersTimeout: 10_000,
  // Milliseconds between checks for late requests, which are closed half a second after they are found: within a second of the limit.
  connectionsCheckingInterval: 250,
  // Longer than the proxies of docs/service.md keep a connection, because the side that gets requests must not be the first to close.
  keepAliveTimeout: 125_000,
}

/** `sluice serve [POLICY]`: runs until SIGTERM or SIGINT, then lets responses under way finish. */
export async function serve(options: ServeOptions, io: Io): Promise<void> {
  const { listen, connections: bounds, demo } = options
  const group = cluster.isWorker ? workerGroup(io) : oneProcess(listen, bounds.served, io)
  const { speaks } = group
  const file = policyOf(options)
  const admin = adminOf(options, () => group.repeated('wrong-token'))
  const { policy: first, text } = readPolicyText(file)
  let readAgain = (): void => {}
  io.onSignal('SIGHUP', () => readAgain())

  const storeUrl = options.store ?? first.store ?? 'memory:'
  const policyFile = options.store === undefined ? file : undefined
  const opened = await openServing(storeUrl, { policyFile, required: options.requireStore, speaks, io })
  const tokens = tokenCounts()
  const says = (line: string): void => (speaks ? io.err(`sluice: ${line}\n`) : undefined)
  const identities = await createIdentities(file, first, tokens.count, says)
  const ofService = serviceMetrics(opened.store, () => ({ policy, ring }))
  const metrics = prometheusMetrics({
    read: [...ofService, ...(admin?.metrics ?? []), ...connectionMetrics(() => connections), tokens.metric],
  })
  const { store, ring, around } = surrounded(opened.store, opened.name, first.failure)

  const beginning = await group.begin()
  const [live, top] = [createLive(() => engine.policy), topKeys()]
  // Counting keys costs more than deciding, so keys are counted only if there is an administrator to read the counts.
  const observers = admin === undefined ? [metrics, live] : [metrics, live, top]
  const { claims, pseudonym } = identities
  const names = namesFrom(beginning.names)
  const engine = createEngine({ policy: first, store, observers, claims, pseudonym, hashKeys: names })
  const chosen = policyFile === undefined ? undefined : storeUrl
  const policy = holdPolicy(first, chosen, (next) => use(next, engine, identities))
  const shared = await share(group, beginning, engine, policy)

  let draining = false
  const reports = group.reports({
    metrics: () => metrics.text(),
    readiness: () => readinessOf(engine, store, draining),
    top: () => countedBy(top),
  })
  const [metricsType, admission] = [metrics.contentType, admin?.admits]
  const service = createService({ engine, store, policy, ...shared, reports, metricsType, live, demo, admission })
  const server = createServer(SERVER_OPTIONS)
  const onFull = (): void => group.repeated('connections-full')
  const connections = watchConnections(server, guardSite(hostsOf(options), service), { bounds, onFull })
  const port = await group.listen(server).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })

  // A program that reads the lines below may end the service at once, so the signals are handled before they are printed.
  const stopped = group.stopped()
  if (speaks) await announce(options, first, port, [`store ${opened.name}: ${opened.keeps}`, `around it: ${around}`], io)
  const watched = reloading({ replace: shared.replaceByFile, file, text, speaks, io })
  readAgain = watched.read
  group.join({ ...shared.callbacks, pause: connections.pause })

  await stopped
  draining = true
  for (const part of [watched, identities, live]) part.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A server that does not answer must not keep this process alive.
  await Promise.race([Promise.resolve(ring?.close()).then(opened.close), pause(CLOSE_MS)])
}

/** Applies what the other processes have received, and connects this one with them. */
async function share(group: Group, beginning: Beginning, engine: Engine, policy: HeldPolicy) {
  const { policy: latest, overrides: earlier } = beginning
  if (latest !== undefined) await policy.replace(latest).catch(keepsPolicy)
  for (const change of earlier) adopt(engine, change)
  const send = (accepted: RelayedPolicy): void => group.send({ kind: 'policy', policy: accepted })
  const { put, file, relayed, ordered } = relayPolicies(policy, send, keepsPolicy)
  const override = (change: RelayedOverride): void => adopt(engine, change)
  const overrides = holdOverrides(engine, (change) => group.send({ kind: 'override', change }))
  return { replace: put, replaceByFile: file, overrides, callbacks: { policy: relayed, ordered, override } }
}

async function announce(options: ServeOptions, policy: Policy, port: number, more: string[], io: Io): Promise<void> {
  const { listen, connections } = options
  const { host } = listen
  if (connections.warning !== undefined) warningTo(io)(connections.warning)
  await printWarnings(policy, io)
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  for (const line of [`serving ${policy.rules.length} rules on ${address}`, ...more]) io.out(`sluice: ${line}\n`)
}

function adminOf({ adminTokenFile }: ServeOptions, onWrong: () => void) {
  return adminTokenFile === undefined ? undefined : adminAccess(readAdminToken(adminTokenFile), onWrong)
}

/** The hosts that requests may name; undefined: any. */
function hostsOf({ listen, allowedHosts }: ServeOptions): HostCheck | undefined {
  return isLoopback(listen.host) || allowedHosts.length > 0 ? hostsAllowed(allowedHosts) : undefined
}

/** Processes share their names for keys, so that their counts can be added. */
function namesFrom(names: readonly number[]): Pseudonym {
  const numbers = [...names]
  return hashKeys(() => numbers.shift() ?? 0)
}

async function use(policy: Policy, engine: Engine, identities: Identities): Promise<void> {
  const prepared = await identities.prepare(policy)
  const { pseudonym } = prepared
  const apply = await engine.prepare(policy, pseudonym === undefined ? {} : { pseudonym })
  prepared.use()
  apply()
}

/** Applies an override that another worker set; reports on stderr if this worker cannot. */
function adopt(engine: Engine, change: RelayedOverride): void {
  try {
    takeOverride(engine, change)
  } catch (error) {
    process.stderr.write(`sluice: worker ${process.pid} goes without an override: ${inOneLine(error)}\n`)
  }
}

function keepsPolicy(error: unknown): void {
  process.stderr.write(`sluice: worker ${process.pid} keeps its policy: ${inOneLine(error)}\n`)
}

/** The policy file to serve. @throws CommandFailure exit 3 if there is no policy argument and no --demo */
export function policyOf({ policy, demo }: Pick<ServeOptions, 'policy' | 'demo'>): string {
  const file = policy ?? (demo ? DEMO_POLICY : undefined)
  if (file !== undefined) return file
  throw usage('serve: give a policy file, or --demo for the one that comes along')
}
