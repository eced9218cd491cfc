/** A stream of these chunks, each made when it is wanted. */
export function streamOf<Chunk>(chunks: readonly Chunk[]): ReadableStream<Chunk> {
  const rest = chunks.values()
  return new ReadableStream<Chunk>(
    {
      pull(controller) {
        const { done, value } = rest.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
}
