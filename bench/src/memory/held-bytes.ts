import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Heap and external memory after two collections. Objects that the first collection frees may own buffers that only the second one frees.
 */
export async function heldBytes(): Promise<number> {
  for (let times = 0; times < 2; times += 1) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
