import { GCProfiler } from 'node:v8'

/**
 * Starts to count the bytes that this process allocates on V8's heap. The returned function ends the count and returns the bytes. They are
 * the growth of the used heap, plus what each garbage collection freed meanwhile. All JavaScript objects
 * count; memory outside of V8's heap, such as the bytes of a Buffer, does not. V8 does not count the number of objects.
 */
export function allocationMeter(): () => number {
  const profiler = new GCProfiler()
  profiler.start()
  const before = process.memoryUsage().heapUsed
  return () => {
    const after = process.memoryUsage().heapUsed
    const freed = profiler.stop().statistics.map(({ beforeGC, afterGC }) => heapOf(beforeGC) - heapOf(afterGC))
    return after - before + freed.reduce((sum, bytes) => sum + bytes, 0)
  }
}

function heapOf({ heapStatistics }: { readonly heapStatistics: { readonly usedHeapSize: number } }): number {
  return heapStatistics.usedHeapSize
}
