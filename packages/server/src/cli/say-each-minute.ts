import type { Io } from './io.ts'

const MINUTE_MS = 60_000

/** Writes warnings, one a line. */
export function warningTo(io: Io): (line: string) => void {
  return (line) => io.err(`sluice: warning: ${line}\n`)
}

/**
 * Counts events and reports them: at once, then at the end of each minute in which they happened again.
 * @param write gets the number of events since the last line, and whether it is a later line
 * @param everyMs milliseconds between two lines; default a minute
 */
export function sayEachMinute(write: (count: number, again: boolean) => void, everyMs: number = MINUTE_MS): (times?: number) => void {
  let count = 0
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    timer = undefined
    if (count === 0) return
    write(count, true)
    begin()
  }
  const begin = (): void => {
    count = 0
    timer = setTimeout(end, everyMs).unref()
  }
  return (times = 1) => {
    count += times
    if (timer !== undefined) return
    write(count, false)
    begin()
  }
}
