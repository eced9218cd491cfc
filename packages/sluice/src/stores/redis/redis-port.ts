import { LimiterError } from '../../errors/limiter-error.ts'
import { shown } from '../../errors/options.ts'
import type { UntilConnected } from './first-connection.ts'
import type { Opening } from './opening.ts'

/** Connections that a client lets others replace. */
export interface Connections {
  /** What carries the calls of a key: one object as long as it is the same owner of a socket; undefined where nobody knows yet. */
  of(key: string | undefined): object | undefined
  /** Ends the socket at once, so that the client makes another; calls under way on it are rejected. */
  replace(connection: object): void
}

/**
 * What the store needs of a client library. An adapter per library fulfils it; nothing is guessed from a client's constructor.
 * Of a reply, whole numbers are numbers, null is null, and text is bytes (a Uint8Array), for values are no text; errors are those
 * of the server, with its first word in front.
 */
export interface RedisPort {
  /** Set where keys lie in slots on several nodes, and one call may only name keys of one slot. */
  readonly cluster?: true
  evalsha(sha1: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  eval(source: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
  /** Absent where the client does not let others replace a connection: then its own time-outs must. */
  readonly connections?: Connections
  /**
   * While the client makes its first connection, settles when that has been made or has failed: calls are held back so long, within their deadlines. Undefined
   * otherwise. Absent where a client is connected when it is handed over.
   */
  readonly opening?: Opening
  /** What `ready` waits for, longer than calls do. Absent or undefined where a client is connected when it is handed over, or says nothing of its attempts. */
  readonly untilConnected?: UntilConnected | undefined
}

const EXPECTED = 'expected what ioredis(client), nodeRedis(client) or valkeyGlide(client) returns'

/**
 * A client itself has methods of the same names, which take something else.
 * @throws LimiterError INVALID_OPTIONS for what is no port
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
 * @returns what was given
 * @throws LimiterError INVALID_OPTIONS naming the first method that is not there
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
