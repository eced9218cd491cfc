/** Events that any client can cause as often as it likes; each kind is warned of in at most one line a minute. */
export type Repeated = 'wrong-token' | 'connections-full'

/** Counts an event. @param times default 1 */
export type CountRepeated = (what: Repeated, times?: number) => void

const BATCH_MS = 1_000
const MINUTE_MS = 60_000

/**
 * Warns of each kind at its first event and then at most once a minute, with the number of events since the last line.
 * @param served the connections that each process serves
 */
export function repeatedWarnings(write: (line: string) => void, served: number): CountRepeated {
  return countedOver(MINUTE_MS, (what, count, again) => {
    const [events, late] = [count === 1 ? '' : 's', again ? ' in the last minute' : '']
    if (what === 'wrong-token') return write(`${count} request${events} with a wrong admin token${late}, refused with 401`)
    write(`${count} connection${events}${late} found all ${served} taken (--max-connections): above it only health is answered`)
  })
}

/** Sends events from a worker to the primary, which warns: at once, then at most once a second, however many there are. */
export function inBatches(send: (what: Repeated, times: number) => void): CountRepeated {
  return countedOver(BATCH_MS, send)
}

/** Counts events and reports each kind: at once, then at the end of each interval in which it happened again. */
function countedOver(intervalMs: number, report: (what: Repeated, count: number, again: boolean) => void): CountRepeated {
  /** Events of each kind since its last report, while its interval runs. */
  const counts = new Map<Repeated, number>()
  const reportNow = (what: Repeated, count: number, again: boolean): void => {
    report(what, count, again)
    counts.set(what, 0)
    setTimeout(() => {
      const more = counts.get(what) ?? 0
      counts.delete(what)
      if (more > 0) reportNow(what, more, true)
    }, intervalMs).unref()
  }
  return (what, times = 1) => {
    const count = counts.get(what)
    if (count === undefined) reportNow(what, times, false)
    else counts.set(what, count + times)
  }
}
