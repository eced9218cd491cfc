interface Signalled {
  readonly process: { kill(signal: 'SIGHUP'): unknown }
}

/**
 * Passes SIGHUP on to workers. SIGHUP would end a process that does not handle it yet, so a worker gets it once it serves.
 * @param serving workers that answer requests
 */
export function createHangups<W extends Signalled>(workers: () => readonly W[], serving: ReadonlySet<W>) {
  const late = new WeakSet<W>()
  return {
    hangUp() {
      for (const worker of workers()) {
        if (serving.has(worker)) worker.process.kill('SIGHUP')
        else late.add(worker)
      }
    },
    /** Call when a worker begins to serve. */
    serves(worker: W) {
      if (late.delete(worker)) worker.process.kill('SIGHUP')
    },
  }
}
