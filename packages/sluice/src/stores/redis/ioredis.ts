import type { RedisPort } from './redis-port.ts'

/** The part of an ioredis client (version 5 or 6) that is used; iovalkey has the same. */
export interface IoredisLike {
  /** A command of any name, with texts of its reply as bytes. */
  callBuffer(command: string, ...args: (string | number)[]): Promise<unknown>
}

/**
 * An ioredis client of one server, or of one that Sentinel watches, as the store's port; not its `Cluster`. The client stays the
 * caller's: it is neither configured nor closed. For limits that stay exact through a lost connection, create it with
 * `autoResendUnfulfilledCommands: false`; for a bounded queue while the server is away, with `enableOfflineQueue: false`.
 */
export function ioredis(client: IoredisLike): RedisPort {
  return {
    evalsha: (sha1, keys, args) => client.callBuffer('evalsha', sha1, keys.length, ...keys, ...args),
    eval: (source, keys, args) => client.callBuffer('eval', source, keys.length, ...keys, ...args),
  }
}
