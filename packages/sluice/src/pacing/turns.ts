import { LimiterError } from '../errors/limiter-error.ts'
import { MAX_WAIT_MS } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { createSleep } from '../limiter/sleep.ts'
import type { Time } from '../time/time.ts'

/** How turns are granted: the options of everything in `sluice/pacing`. */
export interface TurnsOptions {
  /** The key that turns are charged to in the limiter; default `pacing`. */
  readonly key?: string
  /** The most turns that may wait at once; further ones are refused. Default 10,000. */
  readonly maxWaiting?: number
  /**
   * The longest wait of one turn in milliseconds, at most a day, which is the default. A turn that would wait longer is refused at once.
   */
  readonly maxWaitMs?: number
}

/**
 * Gives back the slot that a turn holds. Call it when the work of the turn has ended. Never throws: a slot that cannot be given back
 * becomes free when its time ends.
 */
export type Release = () => void

/** Grants turns in the order of the calls, no faster than a limit allows. */
export interface Turns {
  /**
   * Resolves when the turn comes. If the turn holds a slot of a concurrency limit, the result is a function that gives the slot back.
   * Rejects with the signal's reason if the signal aborts first. The turn's tokens are then given back, minus those that other calls were
   * charged since.
   */
  next(cost?: number, signal?: AbortSignal): Promise<Release | undefined>
}

/** Milliseconds until the next try while the store cannot decide: the first pause and the longest. Each pause is twice the one before. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 1_600]

/** Creates the turns of a limiter. @param where names the function in error messages */
export function createTurns(where: string, limiter: Limiter, clock: Time, options: TurnsOptions): Turns {
  const { key = 'pacing', maxWaiting = 10_000, maxWaitMs = MAX_WAIT_MS } = options
  const sleep = createSleep(clock)
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()

  const take = async (
    before: Promise<unknown>,
    cost: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Release | undefined> => {
    const latest = clock.monotonic() + maxWaitMs
    const own = { ...(cost === undefined ? {} : { cost }), ...(signal === undefined ? {} : { signal }) }
    for (let pause = RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
      const decision = await limiter.wait(key, { ...own, maxWaitMs: Math.max(0, latest - clock.monotonic()) })
      const decided = clock.monotonic()
      const { outcome, limitName, reason, retryAfterMs, degraded } = decision
      if (outcome === 'impossible')
        throw new LimiterError(
          'INVALID_COST',
          `${where}: cost is ${cost ?? 1}, above the capacity of ${limitName}: its turn could never come`,
        )
      if (outcome === 'denied') {
        const again = retryAfterMs === undefined ? '' : `; try again in ${retryAfterMs} ms`
        throw new LimiterError('OVERLOAD', `${where}: ${limitName} has no turn within ${maxWaitMs} ms (maxWaitMs; ${reason})${again}`)
      }
      // Waits until the previous turn is settled, because a reply of the store could otherwise overtake an earlier reply. So while the
      // store fails, only the first waiting turn tries again.
      await before
      const { hold } = decision
      const release = hold && ((): void => void limiter.release(key, hold.id).catch(() => undefined))
      if (decision.allowed && signal?.aborted !== true) return release
      // The turn may hold a slot even if the reply of the store was lost.
      release?.()
      signal?.throwIfAborted()
      const at = decided + pause
      if (at > latest) throw new LimiterError('OVERLOAD', `${where}: the store could not decide for ${maxWaitMs} ms: ${degraded?.message}`)
      if (at > clock.monotonic()) await sleep.until(at, signal)
    }
  }
  return {
    next(cost, signal) {
      if (waiting >= maxWaiting)
        return Promise.reject(new LimiterError('OVERLOAD', `${where}: ${maxWaiting} turns are waiting already (maxWaiting)`))
      waiting += 1
      const turn = take(last, cost, signal).finally(() => (waiting -= 1))
      // The next turn comes after this one has resolved or rejected.
      last = turn.catch(() => undefined)
      return turn
    },
  }
}
