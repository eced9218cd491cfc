import { LimiterError } from '../../../errors/limiter-error.ts'
import { shown } from '../../../errors/options.ts'
import type { Opening, UntilConnected } from './first-connection.ts'

/** The connections of a client that allows replacing them. */
export interface Connections {
  /**
   * The connection for the calls of a key: the same object as long as the same socket owner serves it; undefined if it is not known yet.
   */
  of(key: string | undefined): object | undefined
  /** Ends the socket at once, so that the client opens another; calls in flight on it are rejected. */
  replace(connection: object): void
}

/**
 * The operations that the store needs of a client library. An adapter for each library implements it; nothing is guessed from a client's
 * constructor. In a reply, integers are numbers, null is null, and text is bytes (a Uint8Array), because values are not text. Errors are
 * those of the server; their message begins with its first word.
 */
export interface RedisPort {
  /** Set if keys are in slots on several nodes, so that one call may only name keys of one slot. */
  readonly cluster?: true
  /**
   * The address of the node that serves a slot of the cluster; undefined if it is not known yet. Absent if the client does not report it.
   */
  readonly nodeOf?: ((slot: number) => string | undefined) | undefined
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Absent if the client does not allow replacing a connection: then its own timeouts must detect silence. */
  readonly connections?: Connections
  /**
   * While the client makes its first connection, settles when that has been made or has failed: calls wait that long, within their
   * deadlines. Undefined otherwise. Absent for a client that is already connected.
   */
  readonly opening?: Opening
  /**
   * The wait of `ready`, which is longer than that of calls. Absent or undefined for a client that is already connected or does not
   * report its attempts.
   */
  readonly untilConnected?: UntilConnected | undefined
}

const EXPECTED = 'expected what ioredis(client), nodeRedis(client) or valkeyGlide(client) returns'

/**
 * Checks that a client is a port. A raw client has methods of the same names with other parameters.
 * @throws LimiterError INVALID_OPTIONS for anything else
 */
export function validPort(where: string, client: RedisPort): RedisPort {
  const has = methodsOf(client)
  if (has('sendCommand') || has('customCommand')) {
    throw new LimiterError('INVALID_OPTIONS', `${where}: client is a client as its library makes it, ${EXPECTED}`)
  }
  if (has('evalsha') && has('eval')) return client
  throw new LimiterError('INVALID_OPTIONS', `${where}: client is ${shown(client)}, ${EXPECTED}`)
}

/**
 * Checks that a client has these methods.
 * @returns the client
 * @throws LimiterError INVALID_OPTIONS that names the first missing method
 */
export function validClient<C extends object>(adapter: string, library: string, client: C, methods: readonly (keyof C & string)[]): C {
  const has = methodsOf(client)
  const missing = methods.find((method) => !has(method))
  if (missing === undefined) return client
  throw new LimiterError('INVALID_OPTIONS', `${adapter}: expected a client of ${library}, but it has no method ${missing}`)
}

function methodsOf(client: unknown): (name: string) => boolean {
  const held = (typeof client === 'object' || typeof client === 'function') && client !== null ? (client as Record<string, unknown>) : {}
  return (name) => typeof held[name] === 'function'
}
