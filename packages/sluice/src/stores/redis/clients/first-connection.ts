import { hasMethods } from '../../../errors/options.ts'
import type { Time } from '../../../time/time.ts'
import { type CallOptions, StoreFailure } from '../../store.ts'
import { classify } from '../failures.ts'

type Listener = (argument?: unknown) => void

/** The part of a client that reports its connection. All clients are event emitters of Node. */
export interface ConnectionEvents {
  on(event: string, listener: Listener): unknown
  once(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
  listenerCount(event: string): number
}

/** `ended`: the client has given up or was closed, and makes no further attempt by itself. */
export type ConnectionState = 'connected' | 'trying' | 'ended'

/** How an adapter reads the state of a client's connection. */
export interface ConnectionView {
  state(): ConnectionState
  /** The error of the last attempt to connect, if the client exposes it. Then no listener is needed for it. */
  lastError?(): unknown
  /** Starts the first attempt of a client that connects on demand. Absent if the client connects as soon as it is made. */
  begin?(): void
  /** The events after which `state` may have changed. */
  readonly changes: readonly string[]
  /** Events other than `error` that carry the error of an attempt. */
  readonly errors: readonly string[]
}

/**
 * Waits for the client's first connection. Resolves at that connection; at once if it was made before or if there is no deadline. Rejects
 * at the deadline, or earlier if the client gave up or the server refuses the client's account. The failure's cause is the client's last
 * error.
 * @throws StoreFailure with `executed: 'no'`
 */
export type UntilConnected = (options: CallOptions | undefined, time: Time) => Promise<void>

export function isEmitter(client: object): client is ConnectionEvents {
  return hasMethods(client, 'on', 'once', 'off', 'listenerCount')
}

const known = new WeakMap<object, UntilConnected>()

/**
 * Makes the wait for the first connection of a client, however many attempts the client needs. Stores that share a client share its
 * listeners. These exist only while a call waits; only the listener for `ready` stays until the first connection. An `error` listener is
 * added only if the program has added one: otherwise it would suppress the error that a client prints or throws when there is no listener.
 */
export function untilConnectedOf(client: ConnectionEvents, view: ConnectionView): UntilConnected {
  const found = known.get(client)
  if (found !== undefined) return found
  const connection = followed(client, view)
  const until: UntilConnected = (options, time) => {
    const { deadline, signal } = options ?? {}
    if (connection.made || deadline === undefined || !(deadline > time.monotonic()) || signal?.aborted === true) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const finish = (failure: StoreFailure | undefined): void => {
        connection.leave(settle)
        cancel()
        signal?.removeEventListener('abort', abort)
        if (failure === undefined) resolve()
        else reject(failure)
      }
      const settle = (): void => {
        const state = connection.read()
        // A client that was closed may have no last error. The wait then resolves, and the client rejects the calls that follow with its
        // own reason.
        if (state === 'connected' || (state === 'ended' && connection.last === undefined)) finish(undefined)
        else if (state === 'ended' || connection.refused()) finish(failureOf(connection.last))
      }
      const abort = (): void => finish(new StoreFailure('aborted', 'no', 'redis: aborted by the caller'))
      const late = (): void => finish(connection.read() === 'connected' ? undefined : failureOf(connection.last))
      const cancel = time.after(deadline - time.monotonic(), late)
      connection.join(settle)
      signal?.addEventListener('abort', abort, { once: true })
      view.begin?.()
      settle()
    })
  }
  known.set(client, until)
  return until
}

/** What is known of a client's first connection, for those who wait for it. */
interface Followed {
  /** Whether it has been made. */
  readonly made: boolean
  /** The last error, as of the last `read` or event. */
  readonly last: unknown
  /** Reads state and last error of the client. */
  read(): ConnectionState
  /**
   * Whether the server refuses the account, so that waiting does not help. If the server accepts it later, the client connects by its own
   * attempts.
   */
  refused(): boolean
  /** Calls `settle` at each change that may end the wait, until `leave`. */
  join(settle: () => void): void
  leave(settle: () => void): void
}

/** Follows a client. It has listeners for changes and errors only while somebody waits. */
function followed(client: ConnectionEvents, view: ConnectionView): Followed {
  let made = view.state() === 'connected'
  if (!made) client.once('ready', () => (made = true))
  let last: unknown
  const waiting = new Set<() => void>()
  let stop: (() => void) | undefined

  const read = (): ConnectionState => {
    last = view.lastError?.() ?? last
    return view.state()
  }
  const refused = (): boolean => last !== undefined && classify(last).kind === 'setup'
  const changed = (): void => {
    if (read() !== 'trying' || refused()) for (const settle of waiting) settle()
  }
  const failed = (reason: unknown): void => {
    last = reason
    // Deferred, because some clients report the error just before their state says that they have given up.
    void Promise.resolve().then(changed)
  }
  const listen = (): (() => void) => {
    const errors = client.listenerCount('error') > 0 ? ['error', ...view.errors] : view.errors
    for (const event of view.changes) client.on(event, changed)
    for (const event of errors) client.on(event, failed)
    return () => {
      for (const event of view.changes) client.off(event, changed)
      for (const event of errors) client.off(event, failed)
    }
  }
  return {
    get made() {
      return made
    },
    get last() {
      return last
    },
    read,
    refused,
    join(settle) {
      waiting.add(settle)
      stop ??= listen()
    },
    leave(settle) {
      waiting.delete(settle)
      if (waiting.size > 0) return
      stop?.()
      stop = undefined
    },
  }
}

/** Until the first connection has been made or has failed, returns a promise that resolves then. Afterwards returns undefined. */
export type Opening = () => Promise<void> | undefined

const openings = new WeakMap<object, Opening>()

/**
 * Makes the `Opening` of a client that connects in the background. Each client gets one set of listeners, because many stores may share a
 * client.
 * @param ends events at which the promise resolves
 */
export function openingOf(client: Pick<ConnectionEvents, 'once'>, ends: readonly string[]): Opening {
  const found = openings.get(client)
  if (found !== undefined) return found
  let over = false
  const settled = new Promise<void>((resolve) => {
    const settle = (): void => {
      over = true
      resolve()
    }
    for (const event of ends) client.once(event, settle)
  })
  const opening: Opening = () => (over ? undefined : settled)
  openings.set(client, opening)
  return opening
}

/** The failure of a call that was not sent, because there was no connection. */
function failureOf(error: unknown): StoreFailure {
  if (error === undefined) return new StoreFailure('timeout', 'no', 'redis: no connection by the deadline')
  return new StoreFailure(classify(error).kind, 'no', `redis: ${reasonOf(error)}`, { cause: error })
}

/**
 * The messages of an error and of the errors inside of it. If a host has several addresses, the outer error has no message. The error of a
 * cluster has that of the node in a separate field.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, errors, lastNodeError } = error as Error & { readonly errors?: readonly unknown[]; readonly lastNodeError?: unknown }
  const inner = [...(Array.isArray(errors) ? errors : []), ...(lastNodeError === undefined ? [] : [lastNodeError])]
  return [message, ...inner.map(reasonOf)].filter((text) => text !== '').join('; ') || error.name
}
