import { LimiterError } from '../../../errors/limiter-error.ts'
import { hasMethods, shown } from '../../../errors/options.ts'
import type { Opening, UntilConnected } from './first-connection.ts'

/** The connections of a client that allows replacing them. */
export interface Connections {
  /** The client library's object that owns the socket for this key; undefined if not known yet. */
  of(key: string | undefined): object | undefined
  /** Ends the socket at once. Calls in flight on it are rejected. */
  replace(connection: object): void
}

/**
 * What the store needs of a client library. In a reply, integers are numbers, null is null, and texts are bytes (Uint8Array). An error
 * reply is an error whose message begins with the first word of the reply.
 */
export interface RedisPort {
  /** Set for a Cluster: all keys of one call must be in one slot. */
  readonly cluster?: true
  /** The address of a slot's node; undefined if not known yet. Absent if the client does not report addresses. */
  readonly nodeOf?: ((slot: number) => string | undefined) | undefined
  /** Runs a script by its SHA-1 in hexadecimal. Rejects with NOSCRIPT if the server does not know it. */
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** EVAL: sends the script itself. */
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Absent if connections cannot be replaced. Then the client's own timeouts must detect one without replies. */
  readonly connections?: Connections
  /** Calls wait for this promise, within their deadlines. Absent for a client that is already connected. */
  readonly opening?: Opening
  /** The store's `ready` waits with this function, through failed attempts. Absent if the client does not report its connection. */
  readonly untilConnected?: UntilConnected | undefined
}

const EXPECTED = 'expected what ioredis(client), nodeRedis(client) or valkeyGlide(client) returns'

/**
 * Refuses raw clients too: their methods of the same names have other parameters.
 * @throws LimiterError INVALID_OPTIONS for anything but a port
 */
export function validPort(where: string, client: RedisPort): RedisPort {
  if (hasMethods(client, 'sendCommand') || hasMethods(client, 'customCommand')) {
    throw new LimiterError('INVALID_OPTIONS', `${where}: client is a client as its library makes it, ${EXPECTED}`)
  }
  if (hasMethods(client, 'evalsha', 'eval')) return client
  throw new LimiterError('INVALID_OPTIONS', `${where}: client is ${shown(client)}, ${EXPECTED}`)
}
