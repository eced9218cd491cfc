/** Output, environment and signals of a command: the process's own, or those of a caller that runs the command in its own process. */
export interface Io {
  out(text: string): void
  err(text: string): void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Calls back at each such signal, until the function that is returned is called. */
  onSignal(signal: NodeJS.Signals, callback: () => void): () => void
}

/** Those of this process. */
export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  env: process.env,
  onSignal(signal, callback) {
    process.on(signal, callback)
    return () => void process.off(signal, callback)
  },
}

/** Resolves at the first of these signals, with which it was; each that comes again does what it does by itself. */
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
