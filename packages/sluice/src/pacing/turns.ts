import { LimiterError } from '../errors/limiter-error.ts'
import { MAX_WAIT_MS } from '../errors/options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { createSleep } from '../limiter/sleep.ts'
import { onAbort } from '../time/abort-listeners.ts'
import type { Time } from '../time/time.ts'
import { createQueue } from '../limiter/queue.ts'

/** How turns are granted: the options of everything in `sluice/pacing`. */
export interface TurnsOptions {
  /** The limiter's key that turns are charged to; default `pacing`. */
  readonly key?: string | undefined
  /** The most waiting turns; further ones are refused. Default 10,000. */
  readonly maxWaiting?: number | undefined
  /** Milliseconds, at most a day, which is the default. A turn that would wait longer is refused at once. */
  readonly maxWaitMs?: number | undefined
}

/** Gives back the slot of a turn whose work has ended. Never throws: a slot that cannot be given back becomes free when its time ends. */
export type Release = () => void

/** Grants turns in the order of the calls, within a limit. */
export interface Turns {
  /**
   * Resolves with a function if the turn holds a slot of a concurrency limit. Rejects with the signal's reason if the signal aborts first.
   * The turn's tokens are then given back, minus those that other calls were charged since.
   */
  next(cost?: number, signal?: AbortSignal): Promise<Release | undefined>
}

/** The place of a turn in the order of the calls. */
interface Place {
  /** Ends the turn's wait for those before it. */
  onFirst?: () => void
}

/** Pauses while the store cannot decide: the first and the longest. Each is twice the one before. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 1_600]

export function createTurns(where: string, limiter: Limiter, clock: Time, options: TurnsOptions): Turns {
  const { key = 'pacing', maxWaiting = 10_000, maxWaitMs = MAX_WAIT_MS } = options
  const sleep = createSleep(clock)
  const places = createQueue<Place>()

  /** Resolves when all turns before this one have ended, or when the signal aborts. */
  const firstOrAborted = (place: Place, signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const stop = signal === undefined ? undefined : onAbort(signal, resolve)
      place.onFirst = () => {
        stop?.()
        resolve()
      }
    })
  const take = async (place: Place, cost: number | undefined, signal: AbortSignal | undefined): Promise<Release | undefined> => {
    const latest = clock.monotonic() + maxWaitMs
    const own = { ...(cost === undefined ? {} : { cost }), ...(signal === undefined ? {} : { signal }) }
    for (let pause = RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
      // The difference of two instants may be rounded up, above the maximum of a day.
      const leftMs = Math.min(maxWaitMs, Math.max(0, latest - clock.monotonic()))
      const decision = await limiter.wait(key, { ...own, maxWaitMs: leftMs })
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
      // Waits for earlier turns, because replies of the store may overtake each other. While the store fails, only the first waiting turn
      // tries again.
      if (places.first !== place && signal?.aborted !== true) await firstOrAborted(place, signal)
      const { hold } = decision
      const release = hold && ((): void => void limiter.release(key, hold.id).catch(() => undefined))
      if (decision.allowed && signal?.aborted !== true) return release
      // The turn may hold a slot even if the reply was lost.
      release?.()
      signal?.throwIfAborted()
      const at = decided + pause
      if (at > latest) throw new LimiterError('OVERLOAD', `${where}: the store could not decide for ${maxWaitMs} ms: ${degraded?.message}`)
      if (at > clock.monotonic()) await sleep.until(at, signal)
    }
  }
  return {
    next(cost, signal) {
      if (places.size >= maxWaiting)
        return Promise.reject(new LimiterError('OVERLOAD', `${where}: ${maxWaiting} turns are waiting already (maxWaiting)`))
      const place: Place = {}
      const entry = places.add(place)
      return take(place, cost, signal).finally(() => {
        const isFirst = places.first === place
        places.remove(entry)
        if (isFirst) places.first?.onFirst?.()
      })
    },
  }
}
