import { openSync, readSync } from 'node:fs'

const MAX_LINE_LENGTH = 96

/** What the system's scheduler says of a thread so far, in nanoseconds. */
export interface Schedule {
  /** How long it ran. */
  readonly ran: number
  /** How long it was ready to run and had no processor. */
  readonly waited: number
}

/**
 * Finds the main thread of a process; of redis-server that is the thread which runs commands. Always 0 where the system does not report it
 * (other than Linux).
 */
export function scheduleOf(pid: number): () => Schedule {
  let file: number
  try {
    // Fields: nanoseconds run, nanoseconds waited, slices (Linux, Documentation/scheduler/sched-stats.rst).
    file = openSync(`/proc/${pid}/task/${pid}/schedstat`, 'r')
  } catch {
    return () => ({ ran: 0, waited: 0 })
  }
  const line = Buffer.alloc(MAX_LINE_LENGTH)
  return () => {
    const [ran, waited] = line.toString('latin1', 0, readSync(file, line, 0, MAX_LINE_LENGTH, 0)).split(' ')
    return { ran: Number(ran), waited: Number(waited) }
  }
}
