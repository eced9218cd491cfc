export interface Io {
  out(text: string): void
  err(text: string): void
  /** Whether `err` writes to a terminal. */
  readonly terminal?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Calls `callback` at each signal until the returned function is called. */
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

/** After the first of these signals, the same signal has its default effect again. */
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

export function warningTo(io: Io): (line: string) => void {
  return (line) => io.err(`sluice: warning: ${line}\n`)
}
