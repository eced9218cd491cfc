import { openSync, readSync } from 'node:fs'

const LONGEST_LINE = 96

/**
 * Nanoseconds that the main thread of a process has run so far; of redis-server that is the thread which runs commands. Always 0 where the
 * system does not tell (other than Linux).
 */
export function processorOf(pid: number): () => number {
  let file: number
  try {
    file = openSync(`/proc/${pid}/task/${pid}/schedstat`, 'r')
  } catch {
    return () => 0
  }
  const line = Buffer.alloc(LONGEST_LINE)
  return () => Number(line.toString('latin1', 0, readSync(file, line, 0, LONGEST_LINE, 0)).split(' ')[0])
}
