import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into a service with `--import`: writes what held its loop longest, every 50 ms, as `<milliseconds since 1970> <longest> <most work>`.
 * Work is the time for which the thread had a processor meanwhile: the rest is what other programs of the machine took.
 */
const file = process.env['SLUICE_LOOP_HOLDS']
if (file !== undefined && isMainThread) {
  /** Milliseconds for which this thread had a processor. */
  const worked = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  let [last, lastWorked] = [performance.now(), worked()]
  let [longest, work] = [0, 0]
  setInterval(() => {
    const [now, nowWorked] = [performance.now(), worked()]
    longest = Math.max(longest, now - last)
    work = Math.max(work, nowWorked - lastWorked)
    ;[last, lastWorked] = [now, nowWorked]
  }, 1).unref()
  setInterval(() => {
    appendFileSync(`${file}.${process.pid}`, `${Date.now()} ${longest} ${work}\n`)
    ;[longest, work] = [0, 0]
  }, 50).unref()
}
