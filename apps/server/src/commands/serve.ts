import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { prometheusMetrics } from 'sluice/observe'
import { createEngine } from 'sluice/policy'
import { watchConnections } from '../connections.ts'
import { CommandFailure, EXIT } from '../failure.ts'
import { createLive } from '../live.ts'
import { openStore } from '../open-store.ts'
import { readPolicy } from '../read-policy.ts'
import { createService } from '../service.ts'
import { tokenWarnings } from '../unverified.ts'

export interface ServeOptions {
  readonly policy?: string
  readonly store?: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly demo: boolean
}

const DEMO_POLICY = fileURLToPath(new URL('../../policies/rate-limiting-at-scale.yaml', import.meta.url))
/** Milliseconds that answers under way have to finish after SIGTERM, and then the store to close: less than five seconds together. */
const DRAIN_MS = 4_000
const CLOSE_MS = 500

/** `sluice serve [POLICY]`: runs until SIGTERM or SIGINT, then lets answers under way finish. */
export async function serve(options: ServeOptions): Promise<void> {
  const file = options.policy ?? (options.demo ? DEMO_POLICY : undefined)
  if (file === undefined) throw new CommandFailure(EXIT.usage, 'serve: give a policy file, or --demo for the one that comes along')
  const policy = readPolicy(file)
  process.on('SIGHUP', () => process.stderr.write('sluice: SIGHUP is ignored: a policy is read at the start only\n'))
  const { store, name, keeps, close } = await openStore(options.store ?? policy.store ?? 'memory:')
  const metrics = prometheusMetrics()
  const live = createLive(policy)
  const engine = createEngine({ policy, store, observers: [metrics, live] })
  const server = createServer(createService({ engine, store, metrics, live, demo: options.demo }))
  const connections = watchConnections(server)
  const { host, port } = options.listen
  try {
    await listening(server, host, port)
  } catch (error) {
    await close()
    throw error
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  for (const warning of [...policy.warnings, ...tokenWarnings(policy)]) process.stderr.write(`sluice: warning: ${warning}\n`)
  process.stdout.write(`sluice: serving ${policy.rules.length} rules on http://${host.includes(':') ? `[${host}]` : host}:${bound}\n`)
  process.stdout.write(`sluice: store ${name}: ${keeps}\n`)
  await stopped()
  live.close()
  await connections.drain(DRAIN_MS)
  await engine.close()
  // A server that does not answer must not keep this process.
  await Promise.race([close(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))])
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
