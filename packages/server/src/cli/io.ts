/** Output, environment and signals of a command: those of the process, or of a caller that runs the command in its own process. */
export interface Io {
  out(text: string): void
  err(text: string): void
  /** Whether `err` writes to a terminal. */
  readonly terminal?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Calls `callback` each time the signal arrives, until the returned function is called. */
  onSignal(signal: NodeJS.Signals, callback: () => void): () => void
}

export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  terminal: process.stderr.isTTY,
  env: process.env,
  onSignal(signal, callback) {
    process.on(signal, callback)
    return () => void process.off(signal, callback)
  },
}

/** Resolves with the first of these signals that arrives. After that, the same signal has its default effect again. */
export function signalled(io: Io, signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      const end = io.onSignal(signal, () => {
        end()
        resolve(signal)
      })
    }
  })
}

/** Writes warnings about the arguments of a command. */
export function warningTo(io: Io): (line: string) => void {
  return (line) => io.err(`sluice: warning: ${line}\n`)
}
