import type { Io } from './io.ts'
import type { ParsedArguments } from './verb.ts'

export const PROGRESS_FLAG = 'progress on stderr; by default only on a terminal, and not with --json'

/** Milliseconds between two lines. */
const ON_TERMINAL_MS = 100
const IN_LINES_MS = 1_000
const ERASE = '\r\u001B[K'

export interface Progress {
  /** Shows a text, unless one was shown a moment ago. */
  show(text: string): void
  /** Shows `what` and the seconds since this call, until `end`. */
  clock(what: string): void
  /** Removes the line from a terminal. Nothing is shown after this. */
  end(): void
}

/** Written to stderr, so that a result on stdout stays clean. */
export function progressOf(verb: string, args: ParsedArguments, io: Io): Progress {
  const terminal = io.terminal === true
  if (!args.switch('progress') && (!terminal || args.switch('json'))) return { show: () => {}, clock: () => {}, end: () => {} }
  const every = terminal ? ON_TERMINAL_MS : IN_LINES_MS
  let [last, ended] = [-Infinity, false]
  let timer: NodeJS.Timeout | undefined
  const show = (text: string): void => {
    const now = performance.now()
    if (ended || now - last < every) return
    last = now
    io.err(terminal ? `${ERASE}${verb}: ${text}` : `sluice: ${verb}: ${text}\n`)
  }
  return {
    show,
    clock(what) {
      clearInterval(timer)
      const began = performance.now()
      const tick = (): void => show(`${what}, ${Math.floor((performance.now() - began) / 1_000)} s`)
      tick()
      timer = setInterval(tick, every)
      timer.unref()
    },
    end() {
      clearInterval(timer)
      if (terminal && !ended) io.err(ERASE)
      ended = true
    },
  }
}
