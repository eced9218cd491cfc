import type { Log } from './log.ts'

/** Events that any client can cause any number of times. */
export type Repeated = 'wrong-token' | 'connections-full' | 'decision-log-dropped'

/** @param times default 1 */
export type CountRepeated = (what: Repeated, times?: number) => void

const BATCH_MS = 1_000
const MINUTE_MS = 60_000

/**
 * At most one line a minute of each kind.
 * @param served the most connections that each process serves
 */
export function repeatedLines(log: Log, served: number): CountRepeated {
  return countedOver(MINUTE_MS, (what, count, again) => {
    const [s, late] = [count === 1 ? '' : 's', again ? ' in the last minute' : '']
    const messages: Readonly<Record<Repeated, string>> = {
      'connections-full': `${count} connection${s}${late} found all ${served} taken (--max-connections): above it only health is answered`,
      'wrong-token': `${count} request${s} with a wrong admin token${late}, refused with 401`,
      'decision-log-dropped': `${count} line${s}${late} are missing in the decision log: writing it is too slow, or fails`,
    }
    log('warn', what, messages[what], { count })
  })
}

/** Sends the first event at once, later ones at most once a second as a count. */
export function inBatches(send: (what: Repeated, times: number) => void): CountRepeated {
  return countedOver(BATCH_MS, send)
}

function countedOver(ms: number, report: (what: Repeated, count: number, again: boolean) => void): CountRepeated {
  /** By kind whose interval is running: events since the last report. */
  const counts = new Map<Repeated, number>()
  const reportNow = (what: Repeated, count: number, again: boolean): void => {
    report(what, count, again)
    counts.set(what, 0)
    setTimeout(() => {
      const more = counts.get(what) ?? 0
      counts.delete(what)
      if (more > 0) reportNow(what, more, true)
    }, ms).unref()
  }
  return (what, times = 1) => {
    const count = counts.get(what)
    if (count === undefined) reportNow(what, times, false)
    else counts.set(what, count + times)
  }
}

const FAILURE_MS = 1_000

/** At most one line a second, so that no client can flood the log. */
export function failureLines(log: Log): (error: unknown) => void {
  let [until, unwritten] = [Number.NEGATIVE_INFINITY, 0]
  return (error) => {
    const now = performance.now()
    if (now < until) {
      unwritten += 1
      return
    }
    const more = unwritten === 0 ? '' : `; ${unwritten} more failed since the last such line`
    ;[until, unwritten] = [now + FAILURE_MS, 0]
    const { message, stack } = error instanceof Error ? error : { message: String(error) }
    log('error', 'request-failed', `a request failed unexpectedly and got 500: ${message}${more}`, stack === undefined ? {} : { stack })
  }
}
