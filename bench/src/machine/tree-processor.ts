import { readdirSync, readFileSync } from 'node:fs'
import { belowOf } from './disturbance.ts'

/**
 * Makes a function that reads the processor time of a process and of its descendants, with all their threads, in microseconds. The
 * descendants are found once, when this function is called, so the server must have started its workers before. Always 0 on other systems
 * than Linux.
 */
export function treeProcessor(root: number): () => number {
  const pids = belowOf(root)
  return () =>
    pids.reduce((sum, pid) => sum + threadsOf(pid).reduce((total, thread) => total + ranMicros(`/proc/${pid}/task/${thread}`), 0), 0)
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** The first field of a thread's `schedstat`: nanoseconds run (Linux, Documentation/scheduler/sched-stats.rst). 0 if it has ended. */
function ranMicros(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, 'latin1').split(' ')[0]) / 1e3
  } catch {
    return 0
  }
}
