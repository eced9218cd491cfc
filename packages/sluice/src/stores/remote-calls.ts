import { createDeadlines } from '../time/deadlines.ts'
import type { Time } from '../time/time.ts'
import { type CallOptions, StoreFailure } from './store.ts'

export interface RemoteCalls {
  /** @param classify converts what `send` threw, or rejected with */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, classify: (error: unknown) => StoreFailure): Promise<T>
}

export interface RemoteBounds {
  /** Includes calls that were abandoned at their deadline. */
  readonly maxInFlight: number
  /** The most calls that the client can send at once; others wait here. Default: no bound. */
  readonly maxSent?: number | undefined
  /** While it returns a promise, calls wait here until that resolves. */
  readonly opening?: (() => Promise<void> | undefined) | undefined
}

/**
 * At its deadline a call rejects with `timeout`. If it still waits here, it is never sent. If it was sent, the failure has `executed:
 * 'unknown'`, and the call counts as in flight until the client answers it. So a dead server cannot make the process queue calls without
 * end.
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
