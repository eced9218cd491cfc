import { LimiterError } from '../errors/limiter-error.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Time } from '../time/time.ts'

export interface TurnsOptions {
  /** The limiter's key to charge; default `pacing`. */
  readonly key?: string
  /** The most turns that may wait at once; further ones are refused. Default 10,000. */
  readonly maxWaiting?: number
  /** Ends all waiting: pending turns reject with its reason. */
  readonly signal?: AbortSignal
}

/** Grants turns in the order of the requests, no faster than a limit allows. */
export interface Turns {
  /** Resolves when the turn comes. Rejects with the signal's reason if waiting is ended; it then takes no token. */
  next(): Promise<void>
}

export function createTurns(limiter: Limiter, clock: Time, options: TurnsOptions): Turns {
  const { key = 'pacing', maxWaiting = 10_000, signal } = options
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const take = async (): Promise<void> => {
    for (;;) {
      signal?.throwIfAborted()
      const decision = await limiter.check(key)
      if (decision.allowed) return
      if (decision.outcome === 'impossible') {
        throw new LimiterError(
          'INVALID_COST',
          `pacing: the capacity of ${decision.limitName} is below one token, so no turn could ever come`,
        )
      }
      await pause(clock, decision.retryAfterMs ?? RETRY_MS, signal)
    }
  }
  return {
    next() {
      if (waiting >= maxWaiting) {
        return Promise.reject(new LimiterError('OVERLOAD', `pacing: ${maxWaiting} turns are waiting already`))
      }
      waiting += 1
      const turn = last.then(take).finally(() => (waiting -= 1))
      // The next turn waits for this one, whether it resolves or rejects.
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

/** Milliseconds between retries while a store cannot decide, or cannot report when the next turn is. */
const RETRY_MS = 100

function pause(clock: Time, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    // The signal may have been aborted during the limiter's call.
    if (signal?.aborted === true) return reject(signal.reason as Error)
    const abort = (): void => {
      cancel()
      reject(signal?.reason as Error)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}
