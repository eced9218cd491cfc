import { onAbort } from '../time/abort-listeners.ts'
import type { Cancel } from '../time/time.ts'
import type { Pace } from './pace.ts'
import { linked } from './stoppable.ts'

/**
 * A pair of streams: what is written to the one can be read from the other, when its turn comes. A chunk takes its turn only when a reader
 * wants it, and one chunk at most is queued before it. Not of the class TransformStream, whose `transform` does not learn that a side was
 * aborted or cancelled: it would wait, and take the turn, for nobody.
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
  // Node's types of version 20 lack it.
  const { signal: aborted } = input as WritableStreamDefaultController & { readonly signal: AbortSignal }
  // Whoever ends it first, both sides end with that reason, and so does a chunk that waits.
  onAbort(stop.signal, () => {
    const reason: unknown = stop.signal.reason
    unlink()
    demand.reject(reason)
    output.error(reason)
    // A side that is being aborted errs by itself.
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
  // Nobody may be waiting when a side ends.
  wanted.catch(() => {})
  return { wanted, resolve, reject }
}
