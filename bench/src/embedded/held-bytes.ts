import { setImmediate as nextTurn } from 'node:timers/promises'

/** Heap and external memory after a collection. Twice, because what the first collection finds dead may hold buffers that only the second gives back. */
export async function heldBytes(): Promise<number> {
  for (let times = 0; times < 2; times += 1) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
