import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, shown } from '../../../errors/options.ts'
import type { Opening, UntilConnected } from './first-connection.ts'

/** The connections of a client, if the client allows replacing them. */
export interface Connections {
  /** The object of the client library that owns the socket for calls with this key. Undefined if it is not known yet. */
  of(key: string | undefined): object | undefined
  /** Ends the socket at once, so that the client opens another. Calls in flight on it are rejected. */
  replace(connection: object): void
}

/**
 * The operations of a client library that the store needs. There is an adapter for each library. In a reply, integers are numbers, null is
 * null, and text is bytes (a Uint8Array), because values of states are not text. An error reply of the server is an error whose message
 * begins with the first word of the reply.
 */
export interface RedisPort {
  /** Set if keys are in slots on several nodes. Then all keys of one call must be in one slot. */
  readonly cluster?: true
  /**
   * The address of the node that serves a slot of the cluster; undefined if it is not known yet. Absent if the client does not report it.
   */
  readonly nodeOf?: ((slot: number) => string | undefined) | undefined
  /** EVALSHA: runs a script by its SHA-1 in hexadecimal. Rejects with NOSCRIPT if the server does not know it. */
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** EVAL: sends the script itself. */
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Absent if the client does not allow replacing a connection. Then its own timeouts must detect a connection without replies. */
  readonly connections?: Connections
  /**
   * While the client makes its first connection, returns a promise that resolves when the connection has been made or has failed. Calls
   * wait for this promise, within their deadlines. Otherwise returns undefined. Absent for a client that is already connected.
   */
  readonly opening?: Opening
  /**
   * The store's `ready` waits with this function, which does not give up when one attempt fails. Absent or undefined for a client that is
   * already connected or does not report its attempts.
   */
  readonly untilConnected?: UntilConnected | undefined
}

const EXPECTED = 'expected what ioredis(client), nodeRedis(client) or valkeyGlide(client) returns'

/**
 * Checks that a client is a port. A raw client has methods of the same names with other parameters.
 * @throws LimiterError INVALID_OPTIONS for anything else
 */
export function validPort(where: string, client: RedisPort): RedisPort {
  if (hasMethods(client, 'sendCommand') || hasMethods(client, 'customCommand')) {
    throw new LimiterError('INVALID_OPTIONS', `${where}: client is a client as its library makes it, ${EXPECTED}`)
  }
  if (hasMethods(client, 'evalsha', 'eval')) return client
  throw new LimiterError('INVALID_OPTIONS', `${where}: client is ${shown(client)}, ${EXPECTED}`)
}
