import type { MonotonicInstant, Random, Time } from '../../time/time.ts'

const PAGES = 32

/** Runs one statement; returns how many rows were deleted, and whether there are pages after those it examined. */
export type SweepPages = (first: number, pages: number, deadline?: MonotonicInstant) => Promise<{ gone: number; more: boolean }>

export interface Sweeper {
  /** Sweeps the whole table, page by page; returns how many rows were deleted. */
  all(deadline: MonotonicInstant | undefined): Promise<number>
  /** Called for every decision. Sometimes it sweeps the next pages, one statement at a time, without delaying the caller. */
  decided(): void
}

/**
 * Deletes expired rows. Decisions trigger it instead of a timer: without calls there is nothing new to sweep, and no timer keeps a
 * process alive. Pauses are random, so that many processes do not sweep together. After a failure the next sweep does the work, because
 * an expired row decides as if it were deleted.
 * @param everyMs milliseconds between two statements; 0: only on request
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
    decided() {
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
