import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into a service with `--import`. Every 50 ms it writes a line `<milliseconds since 1970> <longest> <most work> <piece>`:
 * - longest: for how long the event loop was blocked at most
 * - most work: the most time of a processor that the thread had meanwhile; the rest went to other programs
 * - piece: how long a fixed piece of work takes, which shows how fast the machine is at the moment
 */
const file = process.env['SLUICE_LOOP_HOLDS']
if (file !== undefined && isMainThread) {
  /** Milliseconds for which this thread had a processor. */
  const worked = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  /**
   * A fixed piece of work. On the machine for which the bound in reload.fault.test.ts was written, it takes a millisecond if nothing else
   * runs.
   */
  const piece = () => {
    const list = Array.from({ length: 500 }, (_, index) => ({ name: `r${index}`, match: { path: `/a${index}/b${index}` }, rate: index }))
    return JSON.parse(JSON.stringify(list)).length
  }
  let [last, lastWorked] = [performance.now(), worked()]
  let [longest, work] = [0, 0]
  setInterval(() => {
    const [now, nowWorked] = [performance.now(), worked()]
    longest = Math.max(longest, now - last)
    work = Math.max(work, nowWorked - lastWorked)
    ;[last, lastWorked] = [now, nowWorked]
  }, 1).unref()
  setInterval(() => {
    const began = performance.now()
    piece()
    appendFileSync(`${file}.${process.pid}`, `${Date.now()} ${longest} ${work} ${performance.now() - began}\n`)
    ;[longest, work] = [0, 0]
    ;[last, lastWorked] = [performance.now(), worked()]
  }, 50).unref()
}
