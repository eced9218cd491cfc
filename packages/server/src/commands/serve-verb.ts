import cluster from 'node:cluster'
import { usage } from '../cli/failure.ts'
import { warningTo } from '../cli/io.ts'
import { wholeNumber } from '../cli/parse-arguments.ts'
import { repeatedWarnings } from '../cli/repeated-warnings.ts'
import type { Verb } from '../cli/verb.ts'
import { connectionBounds, DEFAULT_CONNECTIONS } from '../http/connection-bound.ts'
import { listenOf } from '../http/port.ts'
import { readHosts } from '../http/site-guard.ts'
import { readPolicy } from '../policy/read-policy.ts'
import { withoutPassword } from '../stores/store-name.ts'
import { supervise } from '../workers/supervise.ts'
import { policyOf, serve } from './serve.ts'

export const serveVerb: Verb = {
  name: 'serve',
  words: ['[POLICY]'],
  does: 'the decision service: decisions over HTTP, metrics, and a page at /; SIGTERM lets answers under way finish',
  flags: {
    listen: { value: 'HOST:PORT', does: 'default 127.0.0.1:8080, or PORT from the environment' },
    store: { value: 'URL', does: "memory:, redis://..., postgres://..., pglite:DIR; default the policy's, else memory:" },
    'require-store': { does: 'end with exit code 2 where the store cannot be reached, instead of serving and trying again' },
    workers: { value: 'N', does: 'processes that share the port and the store, default 1; more need a store that they share' },
    'admin-token-file': {
      value: 'FILE',
      does: 'who bears this token may change the policy and keys; needed where others reach the address',
    },
    'allowed-host': {
      value: 'NAME',
      does: 'another host that requests may name, in addition to localhost and loopback addresses; on other addresses any may, unless this is given',
      repeat: true,
    },
    'max-connections': {
      value: 'N',
      does: `connections that each process serves, default ${DEFAULT_CONNECTIONS}; above it only /livez and /readyz are answered`,
    },
    demo: { does: 'a small backend behind the policy, by default that of Rate Limiting at Scale' },
  },
  examples: ['serve --demo', 'serve policy.yaml --store redis://127.0.0.1:6379 --workers 2'],
  async run(args, io) {
    const [policy] = args.words
    const store = args.text('store')
    const adminTokenFile = args.text('admin-token-file')
    const workers = wholeNumber(args, 'workers', 1, 1, 256)
    const most = args.text('max-connections') === undefined ? undefined : wholeNumber(args, 'max-connections', 1, 1, 1_000_000)
    const options = {
      policy,
      store,
      listen: listenOf(args.text('listen'), io.env['PORT'], adminTokenFile !== undefined),
      demo: args.switch('demo'),
      requireStore: args.switch('require-store'),
      adminTokenFile,
      connections: connectionBounds(most),
      allowedHosts: readHosts(args.texts('allowed-host')),
    }
    if (workers === 1 || cluster.isWorker) return serve(options, io)
    refuseUnshared(workers, store ?? readPolicy(policyOf(options)).store ?? 'memory:')
    return supervise(workers, options.listen, repeatedWarnings(warningTo(io), options.connections.served))
  },
}

/**
 * Refuses several workers with a store that each would have for itself: together they would allow several times the limit.
 * @throws CommandFailure exit 3
 */
function refuseUnshared(workers: number, store: string): void {
  if (!/^(?:memory|pglite):/.test(store)) return
  const why = `each of them would have limits of its own with the store ${withoutPassword(store)}, ${workers} times as much together`
  const use = 'use a store that they share (redis://, rediss:// or postgres://), or one worker'
  throw usage(`serve: --workers ${workers}: ${why}; ${use}`)
}
