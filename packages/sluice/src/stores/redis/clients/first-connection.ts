import { hasMethods } from '../../../errors/options.ts'
import type { Time } from '../../../time/time.ts'
import { type CallOptions, StoreFailure } from '../../store.ts'
import { classify } from '../failures.ts'

type Listener = (argument?: unknown) => void

/** The methods of Node's EventEmitter that are needed. */
export interface ConnectionEvents {
  on(event: string, listener: Listener): unknown
  once(event: string, listener: Listener): unknown
  off(event: string, listener: Listener): unknown
  listenerCount(event: string): number
}

/** `ended`: the client was closed or has given up connecting. */
export type ConnectionState = 'connected' | 'trying' | 'ended'

export interface ConnectionView {
  state(): ConnectionState
  /** The error of the last attempt, if the client exposes it. */
  lastError?(): unknown
  /** Starts connecting. Absent if the client starts by itself. */
  begin?(): void
  /** The events after which `state` may have changed. */
  readonly changes: readonly string[]
  /** Events other than `error` that carry the error of an attempt. */
  readonly errors: readonly string[]
}

/**
 * Resolves at the client's first connection, or at once without a deadline. Rejects at the deadline, or earlier if the client gave up or
 * the server refuses its account.
 * @throws StoreFailure with `executed: 'no'`; its cause is the client's last error
 */
export type UntilConnected = (options: CallOptions | undefined, time: Time) => Promise<void>

export function isEmitter(client: object): client is ConnectionEvents {
  return hasMethods(client, 'on', 'once', 'off', 'listenerCount')
}

const known = new WeakMap<object, UntilConnected>()

/**
 * An `error` listener is added only if the program has one: as the only listener it would suppress the error that the client otherwise
 * prints or throws.
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
        // A closed client without an error: the wait resolves, and the client itself rejects the next calls.
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

interface Followed {
  readonly made: boolean
  readonly last: unknown
  /** Also updates `last`. */
  read(): ConnectionState
  /** Whether the server refuses the client's account. */
  refused(): boolean
  /** Calls `settle` at each change that may end the wait. */
  join(settle: () => void): void
  leave(settle: () => void): void
}

/** Listens for changes and errors only while somebody waits. */
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

/** Returns a promise that resolves when the first connection is made or fails; undefined after that. */
export type Opening = () => Promise<void> | undefined

const openings = new WeakMap<object, Opening>()

/** @param ends events at which the promise resolves */
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

function failureOf(error: unknown): StoreFailure {
  if (error === undefined) return new StoreFailure('timeout', 'no', 'redis: no connection by the deadline')
  return new StoreFailure(classify(error).kind, 'no', `redis: ${reasonOf(error)}`, { cause: error })
}

/** If a host has several addresses, only the inner errors have messages. A cluster's error has that of its node in `lastNodeError`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, errors, lastNodeError } = error as Error & { readonly errors?: readonly unknown[]; readonly lastNodeError?: unknown }
  const inner = [...(Array.isArray(errors) ? errors : []), ...(lastNodeError === undefined ? [] : [lastNodeError])]
  return [message, ...inner.map(reasonOf)].filter((text) => text !== '').join('; ') || error.name
}
