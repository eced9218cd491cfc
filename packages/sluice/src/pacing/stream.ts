import { onAbort } from '../time/abort-listeners.ts'
import type { Cancel } from '../time/time.ts'
import type { Pace } from './pace.ts'
import { linked } from './stoppable.ts'

/**
 * A chunk takes its turn only when a reader requests one; at most one chunk is queued. A TransformStream would use up a turn for a chunk
 * that nobody reads, because its `transform` is not notified of an abort.
 */
export function throttledStream<Chunk>({ partsOf, turn }: Pace<Chunk>, signal: AbortSignal | undefined): TransformStream<Chunk, Chunk> {
  const stop = new AbortController()
  let unlink: Cancel = () => {}
  let demand = deferred()
  let input!: WritableStreamDefaultController
  let output!: ReadableStreamDefaultController<Chunk>
  const pass = async (chunk: Chunk): Promise<void> => {
    for (const part of partsOf(chunk)) {
      await demand.wanted
      await turn(part, stop.signal)
      demand = deferred()
      output.enqueue(part)
    }
  }
  const readable = new ReadableStream<Chunk>(
    {
      start: (controller) => void (output = controller),
      pull: () => demand.resolve(),
      cancel: (reason) => stop.abort(reason),
    },
    { highWaterMark: 0 },
  )
  const writable = new WritableStream<Chunk>(
    {
      start: (controller) => void (input = controller),
      write: (chunk) =>
        pass(chunk).catch((error: unknown) => {
          stop.abort(error)
          throw error
        }),
      close: () => {
        unlink()
        output.close()
      },
    },
    { highWaterMark: 1 },
  )
  // The types of Node.js 20 lack the property `signal`.
  const { signal: aborted } = input as WritableStreamDefaultController & { readonly signal: AbortSignal }
  // Both sides, and a chunk that waits, end with the reason of whoever ended first.
  onAbort(stop.signal, () => {
    const reason: unknown = stop.signal.reason
    unlink()
    demand.reject(reason)
    output.error(reason)
    // A writable side that is being aborted gets its error anyway.
    if (!aborted.aborted) input.error(reason)
  })
  onAbort(aborted, () => stop.abort(aborted.reason))
  unlink = linked(stop, signal)
  return { readable, writable }
}

interface Deferred {
  readonly wanted: Promise<void>
  resolve(): void
  reject(reason: unknown): void
}

function deferred(): Deferred {
  let resolve!: () => void
  let reject!: (reason: unknown) => void
  const wanted = new Promise<void>((settle, fail) => {
    resolve = settle
    reject = fail
  })
  // Avoids an unhandled rejection if nothing waits for this promise.
  wanted.catch(() => {})
  return { wanted, resolve, reject }
}
