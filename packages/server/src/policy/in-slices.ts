import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 2

/** Yields to the event loop between slices: for long lists whose work is not urgent. */
export async function mapInSlices<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const mapped: R[] = []
  let until = performance.now() + SLICE_MS
  for (const item of items) {
    mapped.push(map(item))
    if (performance.now() < until) continue
    await nextTurn()
    until = performance.now() + SLICE_MS
  }
  return mapped
}
