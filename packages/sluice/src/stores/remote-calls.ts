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
    if (next === undefined) return
    waiting.delete(next)
    next()
  }
  return {
    run(send, options, classify) {
      const refused = refusalOf(name, options, time.monotonic(), inFlight, maxInFlight)
      if (refused !== undefined) return Promise.reject(refused)
      const { deadline, signal } = options ?? {}
      return new Promise((resolve, reject) => {
        const begin = (): void => {
          sent += 1
          started(send).then(
            (value) => {
              done()
              release()
              resolve(value)
            },
            (error: unknown) => {
              done()
              give(error instanceof StoreFailure ? error : classify(error))
            },
          )
        }
        const give = (failure: StoreFailure): void => {
          release()
          reject(failure)
        }
        const giveUp = (kind: 'timeout' | 'aborted', why: string): void => {
          const unsent = waiting.delete(begin)
          if (unsent) inFlight -= 1
          give(new StoreFailure(kind, unsent ? 'no' : 'unknown', `${name}: ${why}${unsent ? ', and no connection was there' : ''}`))
        }
        const cancel = deadline === undefined ? undefined : deadlines.add(deadline, () => giveUp('timeout', 'no answer by the deadline'))
        const abort = (): void => giveUp('aborted', 'aborted by the caller')
        signal?.addEventListener('abort', abort, { once: true })
        const release = (): void => {
          cancel?.()
          signal?.removeEventListener('abort', abort)
        }
        inFlight += 1
        const opened = opening?.()
        if (opened === undefined && sent < maxSent) return begin()
        waiting.add(begin)
        void opened?.then(() => (waiting.delete(begin) ? begin() : undefined))
      })
    },
  }
}

function refusalOf(name: string, options: CallOptions | undefined, now: number, inFlight: number, most: number): StoreFailure | undefined {
  if (options?.signal?.aborted === true) return new StoreFailure('aborted', 'no', `${name}: aborted by the caller`)
  if (options?.deadline !== undefined && !(options.deadline > now))
    return new StoreFailure('timeout', 'no', `${name}: the deadline had passed before the call was sent`)
  if (inFlight < most) return undefined
  return new StoreFailure('overload', 'no', `${name}: ${most} calls are under way already`)
}

/** A client that throws instead of rejecting is treated alike. */
function started<T>(send: () => Promise<T>): Promise<T> {
  try {
    return send()
  } catch (error) {
    return Promise.reject(error)
  }
}
