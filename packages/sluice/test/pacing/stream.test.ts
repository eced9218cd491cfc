import { Duplex, PassThrough, Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, it, vi } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { throttleIterable, throttleStream } from '../../src/pacing.ts'
import { manualClock } from '../../src/time/manual.ts'
import { settle } from './settle.ts'
import { streamOf } from './stream-of.ts'

/** A limiter of one call an hour on a clock of its own, and a stream that this limiter paces. */
function hourly(options: Parameters<typeof throttleStream<number>>[1] = {}) {
  const clock = manualClock()
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), clock })
  const { readable, writable } = throttleStream<number>(limiter, { clock, ...options })
  const waitOf = async (): Promise<number> => ((await limiter.peek('pacing')).retryAfterMs ?? 0) / 3_600_000
  return { clock, limiter, reader: readable.getReader(), writer: writable.getWriter(), waitOf }
}

describe('throttleStream', () => {
  it('passes chunks on at the rate, in order, and ends with its source', async () => {
    const clock = manualClock()
    const seen: number[] = []
    const sink = new WritableStream<number>({ write: (chunk) => void seen.push(chunk) })
    const piped = streamOf([1, 2, 3])
      .pipeThrough(throttleStream<number>(tokenBucket({ rate: '2/s', burst: 1 }), { clock }))
      .pipeTo(sink)
    await settle()
    expect(seen).toEqual([1])
    clock.advance(499)
    await settle()
    expect(seen).toEqual([1])
    clock.advance(1)
    await settle()
    expect(seen).toEqual([1, 2])
    clock.advance(500)
    await piped
    expect(seen).toEqual([1, 2, 3])
  })

  it('reads nothing ahead while nobody reads, and takes no turn', async () => {
    let made = 0
    const source = new ReadableStream<number>({ pull: (controller) => controller.enqueue((made += 1)) }, { highWaterMark: 0 })
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 100 }), clock })
    const reader = source.pipeThrough(throttleStream<number>(limiter, { clock })).getReader()
    await settle()
    const ahead = made
    expect(ahead).toBeLessThanOrEqual(2)
    expect((await limiter.peek('pacing')).limits[0]?.remaining).toBe(100)
    for (let count = 1; count <= 5; count += 1) expect((await reader.read()).value).toBe(count)
    await settle()
    expect(made - 5).toBeLessThanOrEqual(ahead)
    expect((await limiter.peek('pacing')).limits[0]?.remaining).toBe(95)
    await reader.cancel()
  })

  it.each([
    ['the reader cancels', ({ reader }: ReturnType<typeof hourly>) => reader.cancel(new Error('gone'))],
    ['the writer aborts', ({ writer }: ReturnType<typeof hourly>) => writer.abort(new Error('gone'))],
  ])('ends the wait and gives the turn back when %s', async (_what, end) => {
    const stream = hourly()
    const { reader, writer, waitOf } = stream
    const first = reader.read()
    await writer.write(1)
    expect((await first).value).toBe(1)
    const second = reader.read()
    const written = writer.write(2)
    for (const one of [second, written, writer.closed, reader.closed]) one.catch(() => {})
    await settle()
    expect(await waitOf()).toBe(2)
    await end(stream)
    await expect(written).rejects.toThrow('gone')
    await settle()
    expect(await waitOf()).toBe(1)
    await expect(writer.write(3)).rejects.toThrow('gone')
  })

  it.each([true, false])('both sides end with the reason of the signal, waiting: %s', async (waiting) => {
    const controller = new AbortController()
    const { reader, writer } = hourly({ signal: controller.signal })
    for (const one of [writer.closed, reader.closed]) one.catch(() => {})
    if (waiting) {
      const reading = reader.read()
      await writer.write(1)
      await reading
      void writer.write(2).catch(() => {})
    }
    const read = reader.read()
    read.catch(() => {})
    await settle()
    controller.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
    await expect(writer.write(3)).rejects.toThrow('enough')
    const late = hourly({ signal: controller.signal })
    for (const one of [late.writer.closed, late.reader.closed]) one.catch(() => {})
    await expect(late.reader.read()).rejects.toThrow('enough')
  })

  it('leaves no listener on a signal when it has ended', async () => {
    const { signal } = new AbortController()
    const [added, removed] = (['addEventListener', 'removeEventListener'] as const).map((name) => vi.spyOn(signal, name))
    const { reader, writer } = hourly({ signal })
    const [read] = await Promise.all([reader.read(), writer.write(1)])
    expect(read.value).toBe(1)
    await writer.close()
    expect(await reader.read()).toEqual({ done: true, value: undefined })
    expect([added?.mock.calls.length, removed?.mock.calls.length]).toEqual([1, 1])
  })

  it('errors of the source, of a cost above the capacity and of the bounds end both sides', async () => {
    const limit = tokenBucket({ rate: '1/h', burst: 5 })
    const failing = new ReadableStream<number>({ start: (controller) => controller.error(new Error('no source')) })
    await expect(failing.pipeThrough(throttleStream<number>(limit)).getReader().read()).rejects.toThrow('no source')
    const costly = (options: object): Promise<unknown> =>
      streamOf([4, 6]).pipeThrough(throttleStream<number>(limit, options)).pipeTo(new WritableStream())
    await expect(costly({ cost: (chunk: number) => chunk })).rejects.toMatchObject({ code: 'INVALID_COST' })
    await expect(costly({ cost: 4, maxWaitMs: 1_000 })).rejects.toMatchObject({ code: 'OVERLOAD' })
    await expect(costly({ bytes: true })).rejects.toThrow('throttleStream: a chunk is 4, expected bytes')
  })

  it('refuses a cost together with bytes, and a capacity below a byte', () => {
    expect(() => throttleStream(tokenBucket({ rate: '1/s', burst: 1 }), { bytes: true, cost: 1 })).toThrow('give cost or bytes')
    expect(() => throttleStream(tokenBucket({ rate: '1/s', burst: 0.5 }), { bytes: true })).toThrow('a capacity of at least 1')
  })
})

/** A Writable that collects what is written. Writing a chunk takes one turn of the event loop. */
function collecting(objectMode: boolean): { readonly sink: Writable; readonly seen: string[] } {
  const seen: string[] = []
  const write = (chunk: unknown, _encoding: string, done: () => void): void => {
    seen.push(String(chunk))
    setImmediate(done)
  }
  return { sink: new Writable({ objectMode, highWaterMark: 1, write }), seen }
}

const WAYS: readonly (readonly [string, boolean, (source: Readable, options: object, sink: Writable) => Promise<void>])[] = [
  true,
  false,
].flatMap((objectMode) => {
  const limit = tokenBucket({ rate: '4/s', burst: 4 })
  const paced = (options: object): TransformStream<unknown, unknown> => throttleStream(limit, { bytes: !objectMode, ...options })
  const mode = objectMode ? 'objects' : 'bytes'
  return [
    [`pipeline, ${mode}`, objectMode, (source, options, sink) => pipeline(source, paced(options) as never, sink)],
    [
      `pipeline with throttleIterable, ${mode}`,
      objectMode,
      (source, options, sink) =>
        pipeline(source, (chunks: AsyncIterable<unknown>) => throttleIterable(chunks, limit, { bytes: !objectMode, ...options }), sink),
    ],
    [
      `Duplex.fromWeb, ${mode}`,
      objectMode,
      (source, options, sink) => pipeline(source, Duplex.fromWeb(paced(options) as never, { objectMode, highWaterMark: 1 }), sink),
    ],
  ] as const
})

describe.each(WAYS)('a Node stream by %s', (_way, objectMode, run) => {
  it('passes chunks on at the rate, and reads no more than few ahead', async () => {
    const clock = manualClock()
    let made = 0
    const source = Readable.from(
      (function* () {
        for (; made < 30;) {
          made += 1
          const letter = String.fromCharCode(96 + made)
          yield objectMode ? letter : Buffer.from(letter)
        }
      })(),
      { objectMode, highWaterMark: 1 },
    )
    const { sink, seen } = collecting(objectMode)
    const ended = run(source, { clock }, sink)
    await settle()
    // Streams of bytes join neighbouring chunks. A joined chunk waits for the tokens of all its bytes, so fewer letters may have passed.
    expect(seen.join('')).toMatch(objectMode ? /^abcd$/ : /^ab?c?d?$/)
    expect(made).toBeLessThanOrEqual(4 + 5)
    clock.advance(1_000)
    await settle()
    expect(seen.join('')).toMatch(objectMode ? /^abcdefgh$/ : /^abcde?f?g?h?$/)
    expect(made).toBeLessThanOrEqual(8 + 5)
    source.destroy(new Error('gone'))
    await expect(ended).rejects.toThrow('gone')
  })

  it('ends with its source', async () => {
    const source = Readable.from(objectMode ? ['a', 'b', 'c'] : [Buffer.from('a'), Buffer.from('b'), Buffer.from('c')], { objectMode })
    const { sink, seen } = collecting(objectMode)
    await run(source, {}, sink)
    expect(seen.join('')).toBe('abc')
  })
})

describe('a Node stream of bytes', () => {
  it('by pipe, splits a chunk above the capacity', async () => {
    const clock = manualClock()
    const throttle = Duplex.fromWeb(throttleStream(tokenBucket({ rate: '4/s', burst: 4 }), { clock, bytes: true }) as never, {
      highWaterMark: 1,
    })
    const parts: string[] = []
    const through = Readable.from([Buffer.from('abcdefgh')], { objectMode: false })
      .pipe(throttle)
      .pipe(new PassThrough())
    through.on('data', (part: Buffer) => parts.push(part.toString()))
    await settle()
    expect(parts).toEqual(['abcd'])
    clock.advance(1_000)
    await settle()
    expect(parts).toEqual(['abcd', 'efgh'])
  })
})
