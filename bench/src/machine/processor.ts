import { openSync, readSync } from 'node:fs'

const MAX_LINE_LENGTH = 96

/** The times of a thread as the system's scheduler reports them, in nanoseconds. */
export interface Schedule {
  /** How long it has run. */
  readonly ran: number
  /** How long the thread was ready to run but had no processor. */
  readonly waited: number
}

/**
 * Makes a function that reads the schedule of a process's main thread. In redis-server that thread runs the commands. The times are 0 on
 * other systems than Linux.
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

/** Milliseconds of processor time of this process, all threads, since `before` was read with `process.cpuUsage()`. */
export function processorMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}
