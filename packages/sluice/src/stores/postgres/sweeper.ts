import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import type { CallOptions } from '../store.ts'

const PAGES = 32

/** Sweeps some pages of the table with one statement. Returns how many rows it deleted, and whether there are pages after these. */
export type SweepPages = (first: number, pages: number, options?: CallOptions) => Promise<{ gone: number; more: boolean }>

export interface Sweeper {
  /** Sweeps the whole table, page by page; returns how many rows were deleted. */
  all(deadline: MonotonicInstant | undefined): Promise<number>
  /**
   * Called after every decision. If the pause since the last sweep is over, begins a sweep of the next pages. The caller does not wait for
   * it.
   */
  decided(): void
}

/**
 * Deletes expired rows. Decisions start a sweep, not a timer: without calls no new rows appear, and a process that is finished can end by
 * itself. Pauses are random, so that many processes do not sweep at the same time. A failed sweep is not repeated at once: it does no harm
 * if an expired row stays, because it decides as if it were deleted.
 * @param everyMs milliseconds between two sweeps of some pages; 0: sweeps only when `all` is called
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
