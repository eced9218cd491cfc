import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection } from './pauses.ts'

const KINDS: ReadonlyMap<unknown, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak'],
])

type GcEntry = PerformanceEntry & { readonly detail?: { readonly kind?: unknown } }

/** Collections since the last call. */
export function watchCollections(): { taken(): Promise<Collection[]>; stop(): void } {
  let seen: Collection[] = []
  const observer = new PerformanceObserver((list) => {
    // The types of this Node version lack the `detail` of an entry.
    for (const { startTime, duration, detail } of list.getEntries() as readonly GcEntry[])
      seen.push({ at: startTime, ms: duration, kind: KINDS.get(detail?.kind) ?? 'other' })
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    async taken() {
      // Collections are reported in a later turn of the event loop.
      await nextTurn()
      await nextTurn()
      const found = seen
      seen = []
      return found
    },
    stop: () => observer.disconnect(),
  }
}
