import type { Io } from './io.ts'
import type { ParsedArguments } from './verb.ts'

export const PROGRESS_FLAG = 'progress on stderr; by default only on a terminal, and not with --json'

/** Milliseconds between two lines. On a terminal each line replaces the one before. */
const ON_TERMINAL_MS = 100
const IN_LINES_MS = 1_000
const ERASE = '\r\u001B[K'

/** Shows how far a running command has come. */
export interface Progress {
  /** Shows a text, unless one was shown a moment ago. */
  show(text: string): void
  /** Shows `what` and the seconds since this call, and updates them until `end` is called. */
  clock(what: string): void
  /** Removes the progress line from a terminal. Nothing more is shown after this call. */
  end(): void
}

/** The progress of a verb that has the flag `progress`. It is written to stderr, so it never gets into a result on stdout. */
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
