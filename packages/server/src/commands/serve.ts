import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { prometheusMetrics, topKeys } from 'sluice/observe'
import { createEngine, type Engine, hashKeys, type Policy, type Pseudonym } from 'sluice/policy'
import { withObservers } from 'sluice/remote'
import { admits, readAdminToken } from '../http/admin.ts'
import { hostsAllowed } from '../http/allowed-hosts.ts'
import { isLoopback } from '../cli/arguments.ts'
import { type Counted, countedBy } from '../page/busiest-keys.ts'
import { connectionMetrics } from '../http/connection-bound.ts'
import { watchConnections } from '../http/connections.ts'
import type { ConnectionBounds } from '../http/descriptor-limit.ts'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import { type ListenAt, openPort } from '../http/port.ts'
import { holdOverrides, takeOverride } from '../policy/held-overrides.ts'
import { holdPolicy, inOneLine } from '../policy/held-policy.ts'
import { createIdentities } from '../identity/identities.ts'
import { mapInSlices } from '../policy/in-slices.ts'
import { type Io, signalled } from '../cli/io.ts'
import { createLive } from '../page/live.ts'
import { surrounded } from '../stores/ring.ts'
import { openServing } from '../stores/serving-store.ts'
import { readPolicyText } from '../policy/read-policy.ts'
import { readinessOf } from '../endpoints/readiness.ts'
import { reloading } from '../policy/reloading.ts'
import { serviceMetrics } from '../http/service-metrics.ts'
import { inBatches, repeatedWarnings } from '../cli/repeated-warnings.ts'
import { warningTo } from '../cli/say-each-minute.ts'
import { createService } from '../http/service.ts'
import { guardSite } from '../http/site-guard.ts'
import { tokenRefusals } from '../identity/token-refusals.ts'
import { tokenCounts } from '../identity/counts.ts'
import { tokenWarning } from '../identity/unverified.ts'
import type { Beginning, RelayedOverride, RelayedPolicy } from '../workers/messages.ts'
import { relayPolicies } from '../workers/relay-policy.ts'
import { answerTogether } from '../workers/together.ts'
import { type WorkerGroup, workerGroup } from '../workers/worker-group.ts'

export interface ServeOptions {
  readonly policy?: string
  readonly store?: string
  readonly listen: ListenAt
  readonly demo: boolean
  /** Whether an unreachable store ends the service before it begins. */
  readonly requireStore: boolean
  readonly adminTokenFile?: string
  readonly connections: ConnectionBounds
  /** Hosts that requests may name in addition to those of this machine. */
  readonly allowedHosts: readonly string[]
}

const DEMO_POLICY = fileURLToPath(new URL('../../policies/rate-limiting-at-scale.yaml', import.meta.url))
const STOPS = ['SIGTERM', 'SIGINT'] as const
/** Milliseconds that responses under way have to finish after SIGTERM, and then the store to close: less than five seconds together. */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

/** Milliseconds a request may take to arrive. A decision takes at most a deadline, so a slow request only occupies a connection. */
const ARRIVAL_MS = 10_000
/**
 * Milliseconds between checks for late requests. A late request is closed within a second of the limit: half a second after it is found.
 */
const CHECK_LATE_MS = 250
/** Longer than the proxies of docs/service.md keep a connection, because the side that gets requests must not be the first to close. */
const KEEP_ALIVE_MS = 125_000

/** `sluice serve [POLICY]`: runs until SIGTERM or SIGINT, then lets responses under way finish. */
export async function serve(options: ServeOptions, io: Io): Promise<void> {
  const file = policyOf(options)
  const warning = warningTo(io)
  const group = workerGroup()
  const repeated = group === undefined ? repeatedWarnings(warning, options.connections.served) : inBatches(group.repeated)
  const refusals = tokenRefusals(() => repeated('wrong-token'))
  const admission = options.adminTokenFile === undefined ? undefined : admits(readAdminToken(options.adminTokenFile), refusals.refused)
  const { policy: first, text } = readPolicyText(file)
  let readAgain = (): void => {}
  io.onSignal('SIGHUP', () => readAgain())
  const chosen = options.store ?? first.store ?? 'memory:'
  const speaks = group?.speaks !== false
  const {
    store: opened,
    name,
    keeps,
    close,
  } = await openServing(chosen, {
    policyFile: options.store === undefined ? file : undefined,
    required: options.requireStore,
    speaks,
    io,
  })
  const warn = (policy: Policy): Promise<void> => warnings(policy, warning)
  const tokens = tokenCounts()
  const identities = createIdentities(file, first, tokens.count, (line) => (speaks ? io.err(`sluice: ${line}\n`) : undefined))
  const decisions = prometheusMetrics({
    read: [
      ...serviceMetrics(
        opened,
        () => policy,
        () => ring,
      ),
      ...(admission === undefined ? [] : refusals.metrics),
      ...connectionMetrics(() => connections),
    ],
  })
  const metrics = { ...decisions, text: () => decisions.text() + tokens.text() }
  // The metrics measure calls to the server, not those that the ring decides without it.
  const { store, ring, says } = surrounded(withObservers(opened, [metrics]), name, first.failure)
  const live = createLive(() => engine.policy)
  const { claims, pseudonym } = identities
  const beginning = await group?.begin()
  const top = topKeys()
  // Counting keys costs more than deciding, so keys are counted only if there is an administrator to read the counts.
  const observers = admission === undefined ? [metrics, live] : [metrics, live, top]
  const engine = createEngine({ policy: first, store, observers, claims, pseudonym, ...namesOf(beginning) })
  const take = async (next: Policy): Promise<void> => {
    const prepared = await identities.prepare(next)
    const { pseudonym: renamed } = prepared
    const apply = await engine.prepare(next, renamed === undefined ? {} : { pseudonym: renamed })
    prepared.use()
    apply()
  }
  const policy = holdPolicy(first, options.store === undefined ? chosen : undefined, take)
  if (beginning?.policy !== undefined) await policy.replace(beginning.policy).catch(keepsPolicy)
  for (const change of beginning?.overrides ?? []) adopt(engine, change)
  let draining = false
  const relayed = group === undefined ? undefined : relayPolicies(policy, group.relay, keepsPolicy)
  const countedHere = (): Counted => countedBy(top)
  const counted = async (): Promise<Counted[]> =>
    group === undefined ? [countedHere()] : (await group.gather('top')).answers.map((answer) => JSON.parse(answer) as Counted)
  const overrides = holdOverrides(engine, (change) => group?.relayOverride(change))
  const alone = createService({
    engine,
    store,
    policy: relayed?.put ?? policy,
    overrides,
    counted,
    metrics,
    live,
    demo: options.demo,
    admission,
    draining: () => draining,
  })
  const service = group === undefined ? alone : answerTogether(group, metrics.contentType, alone)
  const timeouts = { requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, connectionsCheckingInterval: CHECK_LATE_MS }
  const server = createServer({ ...timeouts, keepAliveTimeout: KEEP_ALIVE_MS })
  const { host } = options.listen
  const { allowedHosts } = options
  const hosts = isLoopback(host) || allowedHosts.length > 0 ? hostsAllowed(allowedHosts) : undefined
  const onFull = (): void => repeated('connections-full')
  const connections = watchConnections(server, guardSite(hosts, service), { bounds: options.connections, onFull })
  let port: number
  try {
    port = await (group === undefined ? openPort(server, options.listen) : group.listen(server))
  } catch (error) {
    await close()
    throw error
  }
  // A program that reads the lines below may end the service at once, so the signals are handled before they are printed.
  const ended = group === undefined ? signalled(io, STOPS) : stoppedByPrimary(group, io)
  if (speaks) {
    if (options.connections.warning !== undefined) warning(options.connections.warning)
    await warn(first)
    io.out(`sluice: serving ${first.rules.length} rules on http://${host.includes(':') ? `[${host}]` : host}:${port}\n`)
    io.out(`sluice: store ${name}: ${keeps}\n`)
    io.out(`sluice: around it: ${says}\n`)
  }
  const watched = reloading({ policy: relayed?.file ?? policy, file, text, says: speaks, warn, io })
  readAgain = watched.read
  const ready = async (): Promise<string> => JSON.stringify(await readinessOf(engine, store, draining))
  const takes = {
    policy: (candidate: RelayedPolicy) => relayed?.relayed(candidate),
    ordered: () => relayed?.ordered(),
    override: (change: RelayedOverride) => adopt(engine, change),
    pause: connections.pause,
  }
  group?.join({ metrics: () => metrics.text(), ready, top: () => JSON.stringify(countedHere()) }, takes)
  await ended
  draining = true
  watched.close()
  identities.close()
  live.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A server that does not answer must not keep this process alive.
  await Promise.race([(ring?.close() ?? Promise.resolve()).then(close), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))])
}

/** Workers share their names for keys, so that their counts can be added. */
function namesOf(beginning: Beginning | undefined): { hashKeys?: Pseudonym } {
  if (beginning === undefined) return {}
  const numbers = [...beginning.names]
  return { hashKeys: hashKeys(() => numbers.shift() ?? 0) }
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

/** Prints the warnings of a policy, in slices: a policy may have thousands of rules. */
async function warnings(policy: Policy, warning: (line: string) => void): Promise<void> {
  const ofTokens = await mapInSlices(policy.rules, (rule) => tokenWarning(policy, rule))
  const lines = [...policy.warnings, ...ofTokens.filter((line) => line !== undefined)]
  await mapInSlices(lines, warning)
}

/**
 * The policy file to serve.
 * @throws CommandFailure exit 3 if there is no policy argument and no --demo
 */
export function policyOf({ policy, demo }: Pick<ServeOptions, 'policy' | 'demo'>): string {
  const file = policy ?? (demo ? DEMO_POLICY : undefined)
  if (file !== undefined) return file
  throw new CommandFailure(EXIT.usage, 'serve: give a policy file, or --demo for the one that comes along')
}

/** Ignores signals that reach every process of a group. The primary handles them: it closes the port before workers stop. */
async function stoppedByPrimary(group: WorkerGroup, io: Io): Promise<void> {
  for (const signal of STOPS) io.onSignal(signal, () => {})
  await group.stopped()
}
