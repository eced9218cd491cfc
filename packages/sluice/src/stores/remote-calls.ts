import { createDeadlines } from '../time/deadlines.ts'
import type { Time } from '../time/time.ts'
import { type CallOptions, StoreFailure } from './store.ts'

/** Sends a store's calls so that each settles by its deadline and no more than a bounded number is under way. */
export interface RemoteCalls {
  /** @param classify turns what the client threw into the one error a store may reject with */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, classify: (error: unknown) => StoreFailure): Promise<T>
}

export interface RemoteBounds {
  /** Calls under way at once, abandoned ones included. */
  readonly maxInFlight: number
  /** Calls the client can send at once; further ones wait here, where one that is given up is never sent. Default: no bound. */
  readonly maxSent?: number | undefined
  /** While it returns a promise, calls wait here until that is settled. Default: none do. */
  readonly opening?: (() => Promise<void> | undefined) | undefined
}

/**
 * A call whose deadline has passed is `timeout`. One that was sent is `unknown`: it may yet be executed, counts as spent and is
 * never sent again; its late answer is dropped, and it stays counted as under way until the client lets go of it, so a dead
 * server cannot make the process queue without end. One that still waited is dropped unsent: after an outage the server is not
 * kept busy with calls that nobody waits for.
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
  return {
    run(send, options = {}, classify) {
      const refused = refusalOf(name, options, time.monotonic(), inFlight, maxInFlight)
      if (refused !== undefined) return Promise.reject(refused)
      inFlight += 1
      const begin = async (): ReturnType<typeof send> => {
        sent += 1
        try {
          return await send()
        } catch (error) {
          throw error instanceof StoreFailure ? error : classify(error)
        } finally {
          done()
        }
      }
      const opened = opening?.()
      let waits: (() => void) | undefined
      const wait = (): ReturnType<typeof send> =>
        new Promise((resolve) => {
          const next = (waits = () => resolve(begin()))
          waiting.add(next)
          void opened?.then(() => proceed(next))
        })
      return deadlines.within(options, opened === undefined && sent < maxSent ? begin() : wait(), (kind) => {
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
