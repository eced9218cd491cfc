import cluster from 'node:cluster'
import { createServer, type ServerOptions } from 'node:http'
import { createEngine, type Engine, type Policy } from 'sluice/policy'
import { usage } from '../cli/failure.ts'
import type { Io } from '../cli/io.ts'
import { storeFlags } from '../cli/store-flags.ts'
import type { Verb } from '../cli/verb.ts'
import { readinessOf } from '../endpoints/health.ts'
import { adminAccess, readAdminToken } from '../http/admin.ts'
import { DEFAULT_CONNECTIONS } from '../http/connection-bound.ts'
import { watchConnections } from '../http/connections.ts'
import { createService } from '../http/service.ts'
import { guardSite } from '../http/site-guard.ts'
import { holdTokens } from '../identity/hold-tokens.ts'
import { createIdentities, type Identities } from '../identity/identities.ts'
import { tokenCounts } from '../identity/verifier.ts'
import { counted } from '../logs/counted.ts'
import { type DecisionLog, DEFAULT_SAMPLE, openDecisionLog } from '../logs/decision-log.ts'
import type { Log } from '../logs/log.ts'
import { failureLines, repeatedLines } from '../logs/repeated-lines.ts'
import { createLive } from '../page/live.ts'
import { holdPolicy } from '../policy/held-policy.ts'
import { INTERVAL_FLAG, POLICY_FLAGS } from '../policy/policy-place.ts'
import { logWarnings } from '../policy/reloading.ts'
import { chosenRegion } from '../regions/chosen.ts'
import { REGION_FLAGS } from '../regions/options.ts'
import { withoutPassword } from '../stores/store-name.ts'
import type { Beginning } from '../workers/messages.ts'
import { supervise } from '../workers/supervise.ts'
import { type Group, oneProcess, workerGroup } from '../workers/worker-group.ts'
import { end } from './serve/ending.ts'
import { observe } from './serve/observation.ts'
import { type ServeOptions, serveOptions } from './serve/options.ts'
import { openServiceStore, type ServiceStore, type StoreDescription } from './serve/service-store.ts'
import { firstPolicy, namesFrom, share } from './serve/sharing.ts'

const SERVER_OPTIONS: ServerOptions = {
  // Milliseconds in which a whole request must arrive.
  requestTimeout: 10_000,
  headersTimeout: 10_000,
  // Milliseconds between checks for late requests.
  connectionsCheckingInterval: 250,
  // Milliseconds; longer than the documented proxies keep idle connections. A request sent while the service closes its connection would be
  // lost.
  keepAliveTimeout: 125_000,
}

export const serveVerb: Verb = {
  name: 'serve',
  words: ['[POLICY]'],
  does: 'the decision service: decisions over HTTP, metrics, and a page at /; SIGTERM lets answers under way finish',
  flags: {
    'listen HOST:PORT': 'default 127.0.0.1:8080, or PORT from the environment',
    ...storeFlags("memory:, redis://..., postgres://..., pglite:DIR; default the policy's, else memory:"),
    ...POLICY_FLAGS,
    ...INTERVAL_FLAG,
    'require-store': 'end with exit code 2 where the store cannot be reached, instead of serving and trying again',
    'workers N': 'processes that share the port and the store, default 1; more need a store that they share',
    ...REGION_FLAGS,
    'admin-token-file FILE': 'who bears this token may change the policy and keys; needed where others reach the address',
    'allowed-host NAME...':
      'another host that requests may name, in addition to localhost and loopback addresses; on other addresses any may, unless this is given',
    'max-connections N': `connections that each process serves, default ${DEFAULT_CONNECTIONS}; above it only /livez and /readyz are answered`,
    'log-format FORMAT': 'of the lines on stderr: json, or text for a person; default text on a terminal, else json',
    'log-level LEVEL': 'error, warn, info or debug: lines of this level and of those before it; default info',
    'decision-log FILE': 'append one JSON line for each decision, without keys or addresses; - writes to stdout. SIGHUP opens FILE again',
    'decision-log-sample N': `write one decision in N, drawn at random; default ${DEFAULT_SAMPLE}`,
    demo: 'a small backend behind the policy, by default that of Rate Limiting at Scale',
  },
  examples: ['serve --demo', 'serve policy.yaml --store redis://127.0.0.1:6379 --workers 2'],
  async run(args, io) {
    const options = serveOptions(args, io)
    const { place, store, listen, connections, workers } = options
    if (cluster.isWorker) return serve(options, workerGroup(io), io)
    // Other verbs start faster without the logger.
    const { createLog } = await import('../logs/logger.ts')
    const log = createLog(options.lines, io.err)
    if (workers === 1) return serve(options, oneProcess(listen, connections.served, io, log), io)
    if (options.region !== undefined) chosenRegion(options.region, (await place.read()).policy.regions, workers)
    refuseUnshared(workers, store ?? (await place.read()).policy.store ?? 'memory:')
    return supervise(workers, listen, log, repeatedLines(log, connections.served), store)
  },
}

/** @throws CommandFailure exit 3: workers with states of their own would together exceed the limits */
function refuseUnshared(workers: number, store: string): void {
  if (!/^(?:memory|pglite):/.test(store)) return
  const why = `each of them would have limits of its own with the store ${withoutPassword(store)}, ${workers} times as much together`
  const instead = 'use a store that they share (redis://, rediss:// or postgres://), or one worker'
  throw usage(`serve: --workers ${workers}: ${why}; ${instead}`)
}

interface Opened {
  readonly beginning: Beginning
  readonly admin: ReturnType<typeof adminAccess> | undefined
  readonly read: Awaited<ReturnType<typeof firstPolicy>>
  readonly decisionLog: DecisionLog
  readonly backing: ServiceStore
  /** What SIGHUP does. */
  readonly atHangup: (() => void)[]
}

/** Runs until SIGTERM or SIGINT, then lets responses under way finish. */
async function serve(options: ServeOptions, group: Group, io: Io): Promise<void> {
  const { place, adminTokenFile } = options
  const admin = adminTokenFile === undefined ? undefined : adminAccess(readAdminToken(adminTokenFile), () => group.repeated('wrong-token'))
  const beginning = await group.begin()
  const read = await firstPolicy(place, beginning)
  const decisionLog = await openDecisionLog(options.decisionLog, (lines) => group.repeated('decision-log-dropped', lines))
  const atHangup: (() => void)[] = [() => decisionLog.reopen(group.logs.own)]
  io.onSignal('SIGHUP', () => atHangup.forEach((act) => act()))

  const backing = await openServiceStore(options, read.policy, group)
  if (backing.region !== undefined) atHangup.push(backing.region.readKeys)
  try {
    await serveWith({ beginning, admin, read, decisionLog, backing, atHangup }, options, group)
  } catch (error) {
    // An open region would go on reading from its peers and writing to its store.
    await backing.close()
    throw error
  }
}

async function serveWith(opened: Opened, options: ServeOptions, group: Group): Promise<void> {
  const { beginning, admin, decisionLog, backing, atHangup } = opened
  const { policy: first, watch, requestedAt, own: ownRead } = opened.read
  const { place, connections: bounds, demo } = options
  const { shared: log, own, single } = group.logs
  const { store, health } = backing
  const tokens = tokenCounts()
  const identities = await createIdentities(place.file, first, tokens.count, (level, line) => log(level, 'token-keys', line))
  const later = { engine: () => engine, policy: () => policy, connections: () => connections }
  const { observers, metricsType, reports: measured } = observe(backing, { admin, tokens, decisionLog }, later)

  const { claims, pseudonym } = identities
  const onWarning = (line: string): void => single('warn', 'engine-warning', line)
  const engine = createEngine({ policy: first, store, observers, claims, pseudonym, hashKeys: namesFrom(beginning.names), onWarning })
  const policy = holdPolicy(first, backing.fromPolicy, (next) => use(next, engine, identities))
  const shared = await share(group, beginning, engine, policy, requestedAt)

  let draining = false
  const reports = group.reports({ ...measured, readiness: () => readinessOf(engine, store, draining, health) })
  const live = createLive(reports.activity)
  const service = createService({
    engine,
    store,
    policy,
    ...shared,
    reports,
    metricsType,
    live,
    tokens: holdTokens(identities.holdSecret, options.workers === 1),
    demo,
    admission: admin?.admits,
    unexpected: failureLines(own),
    region: backing.region,
  })
  const server = createServer(SERVER_OPTIONS)
  const guarded = guardSite(options.hosts, service)
  const connections = watchConnections(server, guarded, { bounds, onFull: () => group.repeated('connections-full') })
  const port = await group.listen(server)

  // Who reads the line that is logged next may send a signal at once. So signals are handled first.
  const stopped = group.stopped()
  await announce(options, policy.current, port, backing.description, log)
  const watched = watch(shared.replaceBy, log)
  atHangup.push(watched.read)
  group.join((change) => (change.kind === 'pause' ? connections.pause() : shared.apply(change)), shared.applied, ownRead)

  const ended = await stopped
  draining = true
  await end({ followers: [watched, identities, live], connections, engine, store: backing, decisionLog })
  ended()
}

async function announce(options: ServeOptions, policy: Policy, port: number, backing: StoreDescription, log: Log): Promise<void> {
  const { listen, connections, workers, place } = options
  if (connections.warning !== undefined) log('warn', 'connections-limited', connections.warning)
  await logWarnings(policy, log)
  const address = `http://${listen.host.includes(':') ? `[${listen.host}]` : listen.host}:${port}`
  const { rules, hash, dialect } = policy
  const processes = workers === 1 ? '' : `, with ${workers} workers`
  const { store, keeps, ring } = backing
  const message = `serving ${counted(rules.length, 'rule')} of ${place.name} on ${address}${processes}; store ${store} (${keeps}); ${ring}`
  log('info', 'serving', message, { address, policy: place.name, rules: rules.length, hash, dialect, workers, ...backing })
}

async function use(policy: Policy, engine: Engine, identities: Identities): Promise<void> {
  const prepared = await identities.prepare(policy)
  const { pseudonym } = prepared
  const apply = await engine.prepare(policy, pseudonym === undefined ? {} : { pseudonym })
  prepared.use()
  apply()
}
