import type { Worker } from 'node:cluster'

/** Milliseconds that a worker may take to stop taking connections. */
const PATIENCE_MS = 3_000

/**
 * Stops workers in an order that resets no connection. The primary takes connections for all of them, and when the last does not listen any
 * more it closes those that no worker has. So the others stop first, and hand what was meant for them to the last; that one waits
 * until nothing is on its way.
 */
export interface Door {
  /** A worker takes no more connections, or is gone. */
  closed(worker: Worker): void
  /** Stops them all; resolves when the last was told to. */
  close(workers: readonly Worker[]): Promise<void>
}

export function createDoor(): Door {
  const waiting = new Map<Worker, () => void>()
  const closed = (worker: Worker): void => {
    waiting.get(worker)?.()
    waiting.delete(worker)
  }
  const stop = (worker: Worker): void => {
    if (worker.isConnected()) worker.send({ kind: 'stop' })
  }
  return {
    closed,
    async close([last, ...others]) {
      let timer: NodeJS.Timeout | undefined
      const all = Promise.all(others.map((worker) => new Promise<void>((resolve) => waiting.set(worker, resolve))))
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE_MS)
      })
      for (const worker of others) stop(worker)
      await Promise.race([all, late])
      clearTimeout(timer)
      if (last !== undefined) stop(last)
    },
  }
}
