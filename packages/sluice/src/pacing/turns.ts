import { LimiterError } from '../errors/limiter-error.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Time } from '../time/time.ts'

export interface TurnsOptions {
  /** Which bucket of the limiter; default `pacing`. */
  readonly key?: string
  /** Turns that may wait at once; a further one is refused. Default 10,000. */
  readonly maxWaiting?: number
  /** Ends all waiting; what waits then rejects with its reason. */
  readonly signal?: AbortSignal
}

/** Hands out turns in the order in which they were asked for, no faster than a limit allows. */
export interface Turns {
  /** Resolves when it is this turn; rejects with the signal's reason where waiting is ended, and takes no token then. */
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
      // The one behind waits for this one, however it ends.
      last = turn.catch(() => undefined)
      return turn
    },
  }
}

/** Between tries while a store cannot decide, or cannot say when the next turn is, in milliseconds. */
const RETRY_MS = 100

function pause(clock: Time, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    // It may have been aborted while the limiter was asked.
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
