import { type RedisPort, validClient } from './redis-port.ts'

interface EvalOptions {
  readonly keys: string[]
  readonly arguments: string[]
}

/** Commands of a node-redis client. */
interface NodeRedisCommands {
  evalSha(sha1: string, options: EvalOptions): Promise<unknown>
  eval(source: string, options: EvalOptions): Promise<unknown>
}

/** The part of a node-redis client (version 5 or 6) that is used. */
export interface NodeRedisLike extends NodeRedisCommands {
  // oxlint-disable-next-line typescript/no-explicit-any -- its options depend on the modules it was made with
  withCommandOptions(options: any): NodeRedisCommands
}

/** The type of texts in replies ($), which are wanted as they are. */
const BLOB_STRING = 36
const { Buffer } = globalThis as unknown as { readonly Buffer: unknown }

/**
 * A client of node-redis (`createClient`, `createSentinel` or `createCluster`) as the store's port. Its time-out per command is
 * switched off for the store's calls, whose deadlines share one timer. The client stays the caller's: it is neither configured nor
 * closed. Create it with `disableOfflineQueue: true`; it never sends again what it has sent. It does not let others replace a
 * connection: what falls silent is given up by its own keep-alive, or by a `pingInterval`.
 * @throws LimiterError INVALID_OPTIONS for what is no such client
 */
export function nodeRedis(client: NodeRedisLike): RedisPort {
  const valid = validClient('nodeRedis', 'node-redis 5 or 6 (the package redis)', client, ['evalSha', 'eval', 'withCommandOptions'])
  const commands = valid.withCommandOptions({ timeout: 0, typeMapping: { [BLOB_STRING]: Buffer } })
  return {
    ...(isCluster(valid) ? { cluster: true } : {}),
    evalsha: (sha1, keys, args) => commands.evalSha(sha1, { keys: [...keys], arguments: args.map(String) }),
    eval: (source, keys, args) => commands.eval(source, { keys: [...keys], arguments: args.map(String) }),
  }
}

/** A cluster is asked for the client of a node; no other client has nodes. */
function isCluster(client: object): boolean {
  return 'nodeClient' in client && typeof client.nodeClient === 'function' && 'getSlotRandomNode' in client
}
