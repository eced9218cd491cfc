import { openSync, readSync } from 'node:fs'

const LONGEST_LINE = 96

/**
 * How long this process's main thread was ready to run and had no processor, in milliseconds so far: what to take off a time by the clock on
 * a machine that others use too. Always 0 where the system does not tell (other than Linux).
 */
export const waitedMs: () => number = reader()

function reader(): () => number {
  let file: number
  try {
    // Fields: nanoseconds run, nanoseconds waited, slices (Linux, Documentation/scheduler/sched-stats.rst).
    file = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, 'r')
  } catch {
    return () => 0
  }
  const line = Buffer.alloc(LONGEST_LINE)
  return () => {
    const length = readSync(file, line, 0, LONGEST_LINE, 0)
    return Number(line.toString('latin1', 0, length).split(' ')[1] ?? 0) / 1e6
  }
}
