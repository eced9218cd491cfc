import { createDeadlines } from '../time/deadlines.ts'
import type { Time } from '../time/time.ts'
import { type CallOptions, StoreFailure } from './store.ts'

/** Sends a store's calls so that each settles by its deadline and no more than a bounded number is under way. */
export interface RemoteCalls {
  /** @param classify turns what the client threw into the one error a store may reject with */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, classify: (error: unknown) => StoreFailure): Promise<T>
}

/**
 * A call whose deadline has passed is `timeout`, `unknown`: it may yet be executed, counts as spent and is never sent again;
 * its late answer is dropped. It stays counted as under way until the client lets go of it, so a dead server cannot make the
 * process queue without end.
 */
export function createRemoteCalls(name: string, time: Time, maxInFlight: number): RemoteCalls {
  const deadlines = createDeadlines(time)
  let inFlight = 0
  const done = (): void => {
    inFlight -= 1
  }
  const refusal = (options: CallOptions | undefined): StoreFailure | undefined => {
    if (options?.signal?.aborted === true) return new StoreFailure('aborted', 'no', `${name}: aborted by the caller`)
    if (options?.deadline !== undefined && options.deadline <= time.monotonic()) {
      return new StoreFailure('timeout', 'no', `${name}: the deadline had passed before the call was sent`)
    }
    if (inFlight < maxInFlight) return undefined
    return new StoreFailure('overload', 'no', `${name}: ${maxInFlight} calls are under way already`)
  }
  return {
    run(send, options, classify) {
      const refused = refusal(options)
      if (refused !== undefined) return Promise.reject(refused)
      const { deadline, signal } = options ?? {}
      return new Promise((resolve, reject) => {
        inFlight += 1
        const give = (failure: StoreFailure): void => {
          release()
          reject(failure)
        }
        const cancel =
          deadline === undefined
            ? undefined
            : deadlines.add(deadline, () => give(new StoreFailure('timeout', 'unknown', `${name}: no answer by the deadline`)))
        const abort = (): void => give(new StoreFailure('aborted', 'unknown', `${name}: aborted by the caller`))
        signal?.addEventListener('abort', abort, { once: true })
        const release = (): void => {
          cancel?.()
          signal?.removeEventListener('abort', abort)
        }
        start(send).then(
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
      })
    },
  }
}

/** A client that throws instead of rejecting is treated alike. */
async function start<T>(send: () => Promise<T>): Promise<T> {
  return send()
}
