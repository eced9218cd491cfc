import type { MonotonicInstant, Random, Time } from '../../time/time.ts'

/** Pages of the table that one statement looks at. */
const PAGES = 32

/** One statement: how many rows went, and whether there are pages after those that it looked at. */
export type SweepPages = (first: number, pages: number, deadline?: MonotonicInstant) => Promise<{ gone: number; more: boolean }>

export interface Sweeper {
  /** The whole table, page by page: how many rows went. */
  all(deadline: MonotonicInstant | undefined): Promise<number>
  /** Told of every decision: now and then it looks at the next pages, one statement at a time and never in the way of the caller. */
  asked(): void
}

/**
 * Rows that decide like none are deleted. It goes by decisions instead of a timer: where nothing is asked there is nothing new to
 * sweep, and no timer keeps a process alive. Pauses are spread, so that many processes do not sweep together; a sweep that fails
 * is left to the next one, for what is late in going decides as if gone.
 * @param everyMs between two statements; 0: only when asked to
 */
export function createSweeper(everyMs: number, clock: Time, random: Random, sweep: SweepPages): Sweeper {
  const pause = (): number => everyMs * (0.5 + random())
  let next = clock.monotonic() + pause()
  let page = 0
  let busy = false
  return {
    async all(deadline) {
      let swept = 0
      for (let first = 0, more = true; more; first += PAGES) {
        const found = await sweep(first, PAGES, deadline)
        swept += found.gone
        ;({ more } = found)
      }
      return swept
    },
    asked() {
      if (everyMs === 0 || busy || clock.monotonic() < next) return
      busy = true
      const done = (more: boolean): void => {
        page = more ? page + PAGES : 0
        busy = false
        next = clock.monotonic() + pause()
      }
      sweep(page, PAGES, clock.monotonic() + everyMs).then(
        ({ more }) => done(more),
        () => done(true),
      )
    },
  }
}
