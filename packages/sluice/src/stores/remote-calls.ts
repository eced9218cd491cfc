import { createDeadlines } from '../time/deadlines.ts'
import type { Time } from '../time/time.ts'
import { type CallOptions, StoreFailure } from './store.ts'

/** Sends a store's calls. Each call resolves or rejects by its deadline, and the number of calls in flight is bounded. */
export interface RemoteCalls {
  /** @param classify converts what `send` threw, or rejected with, into a StoreFailure */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, classify: (error: unknown) => StoreFailure): Promise<T>
}

export interface RemoteBounds {
  /** The most calls in flight, including those that were abandoned at their deadline. */
  readonly maxInFlight: number
  /**
   * The most calls that the client can send at once. Further calls wait here, and are not sent if they are abandoned. Default: no bound.
   */
  readonly maxSent?: number | undefined
  /** While this function returns a promise, calls wait here until that resolves. Default: they do not wait. */
  readonly opening?: (() => Promise<void> | undefined) | undefined
}

/**
 * Makes the `RemoteCalls` of a store. A call whose deadline passes is abandoned: it rejects with `timeout`. If the call was sent, the
 * failure has `executed: 'unknown'`, because the server may still execute the call. A late answer is dropped. The call counts as in flight
 * until the client rejects or answers it. So a dead server cannot make the process queue calls without end. A call that was not sent by its
 * deadline is never sent. So after an outage the server does not get calls whose callers have stopped waiting.
 */
export function createRemoteCalls(name: string, time: Time, bounds: RemoteBounds): RemoteCalls {
  const { maxInFlight, maxSent = Number.POSITIVE_INFINITY, opening } = bounds
  const deadlines = createDeadlines(time)
  const waiting = new Set<() => void>()
  let inFlight = 0
  let sent = 0
  const done = (): void => {
    inFlight -= 1
    sent -= 1
    const [next] = waiting
    if (next !== undefined) proceed(next)
  }
  const proceed = (begin: () => void): void => {
    if (waiting.delete(begin)) begin()
  }
  const settled = async <T>(call: Promise<T>, classify: (error: unknown) => StoreFailure): Promise<T> => {
    try {
      return await call
    } catch (error) {
      throw error instanceof StoreFailure ? error : classify(error)
    } finally {
      done()
    }
  }
  return {
    run(send, options = {}, classify) {
      const refused = refusalOf(name, options, time.monotonic(), inFlight, maxInFlight)
      if (refused !== undefined) return Promise.reject(refused)
      inFlight += 1
      const opened = opening?.()
      let waits: (() => void) | undefined
      let call: ReturnType<typeof send>
      if (opened === undefined && sent < maxSent) {
        sent += 1
        try {
          call = settled(send(), classify)
        } catch (error) {
          call = settled(Promise.reject(error), classify)
        }
      } else {
        call = new Promise((resolve) => {
          const next = (waits = () => {
            sent += 1
            resolve(settled(Promise.resolve().then(send), classify))
          })
          waiting.add(next)
          void opened?.then(() => proceed(next))
        })
      }
      return deadlines.within(options, call, (kind) => {
        const unsent = waits !== undefined && waiting.delete(waits)
        if (unsent) inFlight -= 1
        const why = kind === 'timeout' ? 'no answer by the deadline' : 'aborted by the caller'
        return new StoreFailure(kind, unsent ? 'no' : 'unknown', `${name}: ${why}${unsent ? ', and no connection was there' : ''}`)
      })
    },
  }
}

function refusalOf(name: string, { deadline, signal }: CallOptions, now: number, inFlight: number, most: number): StoreFailure | undefined {
  if (signal?.aborted === true) return new StoreFailure('aborted', 'no', `${name}: aborted by the caller`)
  if (deadline !== undefined && !(deadline > now))
    return new StoreFailure('timeout', 'no', `${name}: the deadline had passed before the call was sent`)
  if (inFlight < most) return undefined
  return new StoreFailure('overload', 'no', `${name}: ${most} calls are under way already`)
}
