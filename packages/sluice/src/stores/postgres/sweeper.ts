import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import type { CallOptions } from '../store.ts'

const PAGES = 32

/** Returns how many rows were deleted, and whether more pages follow. */
export type SweepPages = (first: number, pages: number, options?: CallOptions) => Promise<{ gone: number; more: boolean }>

export interface Sweeper {
  all(deadline: MonotonicInstant | undefined): Promise<number>
  /** Begins a sweep of the next pages if the pause is over. */
  decided(): void
}

/**
 * Decisions start sweeps, not a timer, so that an idle process can end. Pauses are random, so that processes do not sweep at the same time.
 * @param everyMs milliseconds between sweeps; 0: only when `all` is called
 */
export function createSweeper(everyMs: number, clock: Time, random: Random, sweep: SweepPages): Sweeper {
  const pause = (): number => everyMs * (0.5 + random())
  let next = clock.monotonic() + pause()
  let page = 0
  let busy = false
  return {
    async all(deadline) {
      const options = deadline === undefined ? undefined : { deadline }
      let swept = 0
      for (let first = 0, more = true; more; first += PAGES) {
        const found = await sweep(first, PAGES, options)
        swept += found.gone
        ;({ more } = found)
      }
      return swept
    },
    decided() {
      if (everyMs === 0 || busy || clock.monotonic() < next) return
      busy = true
      const done = (more: boolean): void => {
        page = more ? page + PAGES : 0
        busy = false
        next = clock.monotonic() + pause()
      }
      sweep(page, PAGES, { deadline: clock.monotonic() + everyMs }).then(
        ({ more }) => done(more),
        () => done(true),
      )
    },
  }
}
