import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, shown } from '../../../errors/options.ts'
import type { Opening, UntilConnected } from './first-connection.ts'

/** The connections of a client that allows replacing them. */
export interface Connections {
  /**
   * The client library's object that owns the socket for the calls of a key; undefined if it is not known yet.
   */
  of(key: string | undefined): object | undefined
  /** Ends the socket at once, so that the client opens another; calls in flight on it are rejected. */
  replace(connection: object): void
}

/**
 * The operations that the store needs of a client library. An adapter for each library implements it; nothing is guessed from a client's
 * constructor. In a reply, integers are numbers, null is null, and text is bytes (a Uint8Array), because values are not text. Errors are
 * those of the server: the message begins with the first word of the error reply.
 */
export interface RedisPort {
  /** Set if keys are in slots on several nodes, so that one call may only name keys of one slot. */
  readonly cluster?: true
  /**
   * The address of the node that serves a slot of the cluster; undefined if it is not known yet. Absent if the client does not report it.
   */
  readonly nodeOf?: ((slot: number) => string | undefined) | undefined
  /** EVALSHA: runs a script by its SHA-1 in hexadecimal. Rejects with NOSCRIPT if the server does not know it. */
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** EVAL: sends the script itself. */
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Absent if the client does not allow replacing a connection: then its own timeouts must detect silence. */
  readonly connections?: Connections
  /**
   * While the client makes its first connection, returns a promise that settles when the connection has been made or has failed. Calls wait
   * for it, within their deadlines. Returns undefined otherwise. Absent for a client that is already connected.
   */
  readonly opening?: Opening
  /**
   * The wait of the store's `ready`, which does not end when one attempt fails. Absent or undefined for a client that is already connected
   * or does not report its attempts.
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
