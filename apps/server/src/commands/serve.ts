import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { prometheusMetrics } from 'sluice/observe'
import { createEngine, type Policy } from 'sluice/policy'
import { withObservers } from 'sluice/wrap'
import { admits, readAdminToken } from '../admin.ts'
import { watchConnections } from '../connections.ts'
import { CommandFailure, EXIT } from '../failure.ts'
import { type HeldPolicy, holdPolicy, inOneLine } from '../held-policy.ts'
import { createLive } from '../live.ts'
import { openStore } from '../open-store.ts'
import { readPolicyText } from '../read-policy.ts'
import { serviceMetrics } from '../service-metrics.ts'
import { createService } from '../service.ts'
import { tokenWarnings } from '../unverified.ts'
import { type WatchedFile, watchFile } from '../watch-file.ts'

export interface ServeOptions {
  readonly policy?: string
  readonly store?: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly demo: boolean
  readonly adminTokenFile?: string
}

const DEMO_POLICY = fileURLToPath(new URL('../../policies/rate-limiting-at-scale.yaml', import.meta.url))
/** Milliseconds that answers under way have to finish after SIGTERM, and then the store to close: less than five seconds together. */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

/** Milliseconds a request may take to arrive: an answer takes no more than a deadline, so a slow question only holds a connection. */
const ARRIVAL_MS = 10_000
const LOOK_FOR_LATE_MS = 1_000
/** Longer than the proxies of docs/service.md keep a connection: who closes first must not be the one that is asked. */
const KEEP_ALIVE_MS = 125_000

/** `sluice serve [POLICY]`: runs until SIGTERM or SIGINT, then lets answers under way finish. */
export async function serve(options: ServeOptions): Promise<void> {
  const file = options.policy ?? (options.demo ? DEMO_POLICY : undefined)
  if (file === undefined) throw new CommandFailure(EXIT.usage, 'serve: give a policy file, or --demo for the one that comes along')
  const admission = options.adminTokenFile === undefined ? undefined : admits(readAdminToken(options.adminTokenFile))
  const { policy: first, text } = readPolicyText(file)
  let readAgain = (): void => {}
  process.on('SIGHUP', () => readAgain())
  const chosen = options.store ?? first.store ?? 'memory:'
  const { store: opened, name, keeps, close } = await openStore(chosen)
  const metrics = prometheusMetrics({ read: serviceMetrics(opened, () => policy) })
  const store = withObservers(opened, [metrics])
  const live = createLive(() => engine.policy)
  const engine = createEngine({ policy: first, store, observers: [metrics, live] })
  const policy = holdPolicy(first, options.store === undefined ? chosen : undefined, (next) => engine.reload(next))
  let draining = false
  const service = createService({ engine, store, policy, metrics, live, demo: options.demo, admission, draining: () => draining })
  const patience = { requestTimeout: ARRIVAL_MS, headersTimeout: ARRIVAL_MS, connectionsCheckingInterval: LOOK_FOR_LATE_MS }
  const server = createServer({ ...patience, keepAliveTimeout: KEEP_ALIVE_MS })
  const connections = watchConnections(server, service)
  const { host, port } = options.listen
  try {
    await listening(server, host, port)
  } catch (error) {
    await close()
    throw error
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  warn(first)
  process.stdout.write(`sluice: serving ${first.rules.length} rules on http://${host.includes(':') ? `[${host}]` : host}:${bound}\n`)
  process.stdout.write(`sluice: store ${name}: ${keeps}\n`)
  const watched = reloading(policy, file, text)
  readAgain = watched.read
  await stopped()
  draining = true
  watched.close()
  live.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A server that does not answer must not keep this process.
  await Promise.race([close(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))])
}

/** Takes in the policy's file whenever it changes, and at SIGHUP; a bad one is told in one line and changes nothing. */
function reloading(policy: HeldPolicy, file: string, text: string): WatchedFile {
  const refused = (error: unknown): void => void process.stderr.write(`sluice: the policy stays as it is: ${inOneLine(error)}\n`)
  const watched = watchFile(file, text, {
    changed(next) {
      try {
        const taken = policy.replace({ text: next, filename: file })
        warn(taken)
        process.stdout.write(`sluice: policy ${file} was read again: ${taken.rules.length} rules, hash ${taken.hash}\n`)
      } catch (error) {
        refused(error)
      }
    },
    unreadable: (error) => refused(new Error(`${file} cannot be read: ${error.message}`)),
  })
  return watched
}

function warn(policy: Policy): void {
  for (const warning of [...policy.warnings, ...tokenWarnings(policy)]) process.stderr.write(`sluice: warning: ${warning}\n`)
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use; set PORT or --listen to another' : error.message
      reject(new CommandFailure(EXIT.failed, `cannot listen on ${host}:${port}: ${why}`, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

function stopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}
