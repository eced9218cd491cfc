import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { Redis } from 'ioredis'
import { createLimiter, fixedWindow, memoryStore, tokenBucket } from '../../src/index.ts'
import { channel, throttleFunction, throttleIterable, throttleStream } from '../../src/pacing.ts'
import { ioredis, redisStore } from '../../src/redis.ts'
import { manualClock } from '../../src/time/manual.ts'
import { switchable } from '../remote-memory.ts'
import { settle } from './settle.ts'
import { streamOf } from './stream-of.ts'

const { redis: url } = inject('engines')

afterEach(() => void vi.restoreAllMocks())

describe('throttleFunction', () => {
  it('runs the burst at once and the rest at the rate, in order', async () => {
    const clock = manualClock()
    const done: number[] = []
    const slow = throttleFunction((value: number) => void done.push(value), tokenBucket({ rate: '10/s', burst: 3 }), { clock })
    const all = Promise.all([1, 2, 3, 4, 5].map((value) => slow(value)))
    await settle()
    expect(done).toEqual([1, 2, 3])
    clock.advance(99)
    await settle()
    expect(done).toEqual([1, 2, 3])
    clock.advance(1)
    await settle()
    expect(done).toEqual([1, 2, 3, 4])
    clock.advance(100)
    await all
    expect(done).toEqual([1, 2, 3, 4, 5])
  })

  it('takes one store call for each call, however long it waits', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const verbs = [vi.spyOn(store, 'decide'), vi.spyOn(store, 'decideNow')]
    const limiter = createLimiter({ limit: tokenBucket({ rate: '10/s', burst: 1 }), store, clock })
    const slow = throttleFunction(() => 1, limiter, { clock })
    const all = Promise.all(Array.from({ length: 20 }, () => slow()))
    for (let turn = 0; turn < 20; turn += 1) {
      await settle()
      clock.advance(100)
    }
    await all
    expect(verbs.map(({ mock }) => mock.calls.length)).toEqual([0, 20])
  })

  it('waits for limits of any algorithm', async () => {
    const clock = manualClock()
    const done: number[] = []
    const slow = throttleFunction((value: number) => void done.push(value), fixedWindow({ limit: 2, window: '1s' }), { clock })
    const all = Promise.all([1, 2, 3].map((value) => slow(value)))
    await settle()
    expect(done).toEqual([1, 2])
    clock.advance(1_000)
    await all
    expect(done).toEqual([1, 2, 3])
  })

  it('passes results, errors and this on, and a failed call does not stop the next', async () => {
    const half = throttleFunction(
      (value: number) => {
        if (value % 2 === 1) throw new Error(`odd ${value}`)
        return value / 2
      },
      tokenBucket({ rate: '10/s', burst: 9 }),
    )
    await expect(half(3)).rejects.toThrow('odd 3')
    expect(await half(4)).toBe(2)
    const object = {
      name: 'ada',
      say: throttleFunction(
        function (this: unknown) {
          return (this as { name: string }).name
        },
        tokenBucket({ rate: '1/s', burst: 1 }),
      ),
    }
    expect(await object.say()).toBe('ada')
  })

  it('takes the cost of each call, and refuses one above the capacity', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 10 }), clock })
    const spend = throttleFunction((tokens: number) => tokens, limiter, { clock, cost: (tokens) => tokens })
    expect(await spend(7)).toBe(7)
    expect((await limiter.peek('pacing')).limits[0]?.remaining).toBe(3)
    await expect(spend(11)).rejects.toMatchObject({ code: 'INVALID_COST', message: expect.stringContaining('cost is 11') as string })
    await expect(throttleFunction(() => 1, limiter, { cost: () => undefined as never })()).rejects.toThrow(
      'what cost returned is undefined',
    )
  })

  it('shares a limiter between functions', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }), clock })
    const ran: string[] = []
    const [a, b] = ['a', 'b'].map((name) => throttleFunction(() => void ran.push(name), limiter, { clock, key: 'shared' })) as [
      () => Promise<void>,
      () => Promise<void>,
    ]
    const both = Promise.all([a(), b()])
    await settle()
    expect(ran).toEqual(['a'])
    clock.advance(1_000)
    await both
    expect(ran).toEqual(['a', 'b'])
  })

  it('gives the place of aborted calls back, listens once to a signal, and leaves no listener behind', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const [added, removed] = (['addEventListener', 'removeEventListener'] as const).map((name) => vi.spyOn(controller.signal, name))
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 1 }), clock })
    const once = throttleFunction(() => 1, limiter, { clock, signal: controller.signal })
    expect(await once()).toBe(1)
    const waits = Array.from({ length: 50 }, () => once())
    await settle()
    expect((await limiter.peek('pacing')).retryAfterMs).toBe(51 * 60_000)
    expect(added).toHaveBeenCalledTimes(1)
    controller.abort(new Error('enough'))
    for (const result of await Promise.allSettled(waits))
      expect(result).toMatchObject({ status: 'rejected', reason: { message: 'enough' } })
    expect((await limiter.peek('pacing')).retryAfterMs).toBe(60_000)
    await expect(once()).rejects.toThrow('enough')
    expect(removed?.mock.calls.length).toBe(0)
  })

  it('bounds how many wait, and for how long', async () => {
    const clock = manualClock()
    const limit = tokenBucket({ rate: '1/s', burst: 1 })
    const few = throttleFunction(() => 1, limit, { clock, maxWaiting: 2 })
    expect(await few()).toBe(1)
    const waits = [few(), few()]
    await expect(few()).rejects.toMatchObject({ code: 'OVERLOAD', message: 'throttleFunction: 2 turns are waiting already (maxWaiting)' })
    const short = throttleFunction(() => 1, limit, { clock, maxWaitMs: 1_500 })
    const shorts = [short(), short()]
    await expect(short()).rejects.toThrow('default has no turn within 1500 ms (maxWaitMs; quota); try again in 500 ms')
    await settle()
    clock.advance(2_000)
    expect(await Promise.all([...waits, ...shorts])).toEqual([1, 1, 1, 1])
  })

  it('tries again while the store fails, the first call only, and ends with maxWaitMs', async () => {
    const clock = manualClock()
    const wire = switchable()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 9 }), store: wire.store, clock })
    const wait = vi.spyOn(limiter, 'wait')
    const done: number[] = []
    const slow = throttleFunction((value: number) => void done.push(value), limiter, { clock, maxWaitMs: 1_000 })
    const ended = Promise.allSettled([slow(1), slow(2), slow(3)])
    await settle()
    clock.advance(100)
    await settle()
    expect(wait).toHaveBeenCalledTimes(4)
    wire.fail = false
    clock.advance(200)
    await settle()
    await ended
    expect(done).toEqual([1, 2, 3])
    wire.fail = true
    const lost = slow(4)
    lost.catch(() => {})
    for (let turn = 0; turn < 10; turn += 1) {
      await settle()
      clock.advance(200)
    }
    await expect(lost).rejects.toMatchObject({ code: 'OVERLOAD', message: expect.stringContaining('no answer') as string })
  })
})

describe('throttleIterable', () => {
  it('passes items on at the rate and requests no item too early', async () => {
    const clock = manualClock()
    let made = 0
    const source = function* (): Generator<number> {
      for (; made < 10;) yield (made += 1)
    }
    const seen: number[] = []
    const reading = (async () => {
      for await (const item of throttleIterable(source(), tokenBucket({ rate: '2/s', burst: 1 }), { clock })) {
        seen.push(item)
        if (item === 3) break
      }
    })()
    await settle()
    expect([seen, made]).toEqual([[1], 2])
    clock.advance(500)
    await settle()
    expect([seen, made]).toEqual([[1, 2], 3])
    clock.advance(500)
    await reading
    expect([seen, made]).toEqual([[1, 2, 3], 3])
  })

  it('a consumer that stops ends the wait, closes the source, and gives its turn back', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 1 }), clock })
    const closed = vi.fn<() => void>()
    const source = async function* (): AsyncGenerator<number> {
      try {
        yield* [1, 2, 3]
      } finally {
        closed()
      }
    }
    const items = throttleIterable(source(), limiter, { clock })
    expect(await items.next()).toEqual({ value: 1, done: false })
    const second = items.next()
    await settle()
    expect((await limiter.peek('pacing')).retryAfterMs).toBe(2 * 3_600_000)
    expect(await items.return()).toEqual({ value: undefined, done: true })
    expect(await second).toEqual({ value: undefined, done: true })
    expect(closed).toHaveBeenCalledTimes(1)
    expect((await limiter.peek('pacing')).retryAfterMs).toBe(3_600_000)
  })

  it('ends with the reason of the signal, and passes errors of the source on', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const limit = tokenBucket({ rate: '1/h', burst: 1 })
    const items = throttleIterable([1, 2], limit, { clock, signal: controller.signal })
    await items.next()
    const waiting = items.next()
    await settle()
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(throttleIterable([1], limit, { signal: controller.signal }).next()).rejects.toThrow('enough')
    const fails = async function* (): AsyncGenerator<number> {
      yield await Promise.reject(new Error('no source'))
    }
    const other = new AbortController()
    const unlinked = vi.spyOn(other.signal, 'removeEventListener')
    await expect(throttleIterable(fails(), limit, { clock, signal: other.signal }).next()).rejects.toThrow('no source')
    expect(unlinked).toHaveBeenCalledTimes(1)
    expect(removed.mock.calls.length).toBeLessThanOrEqual(1)
  })

  it('takes a token for each byte, and splits what is more than the capacity', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '4/s', burst: 4 }), clock })
    const parts: string[] = []
    const reading = (async () => {
      for await (const part of throttleIterable([Buffer.from('abcdefghij'), Buffer.alloc(0)], limiter, { clock, bytes: true }))
        parts.push(part.toString())
    })()
    await settle()
    expect(parts).toEqual(['abcd'])
    clock.advance(1_000)
    await settle()
    expect(parts).toEqual(['abcd', 'efgh'])
    clock.advance(500)
    await reading
    expect(parts).toEqual(['abcd', 'efgh', 'ij', ''])
    await expect(throttleIterable(['text'], limiter, { bytes: true }).next()).rejects.toThrow('a chunk is "text", expected bytes')
  })
})

describe.skipIf(url === undefined)('pacing on Redis', () => {
  it('shares one limit between functions, iterables, streams and channels', async () => {
    const client = new Redis(url ?? '')
    const store = redisStore({ client: ioredis(client), prefix: `pacing-${process.pid}-${performance.now()}:` })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '100/s', burst: 1 }), store, deadlineMs: 10_000 })
    onTestFinished(async () => {
      await limiter.reset('pacing')
      await store.close()
      await client.quit()
    })
    await limiter.ready()
    const seen: string[] = []
    const say = throttleFunction((word: string) => void seen.push(word), limiter)
    const words = channel<string>(limiter, { capacity: 2 })
    const iterating = async (): Promise<void> => {
      for await (const word of throttleIterable(['i1', 'i2', 'i3'], limiter)) seen.push(word)
    }
    const streaming = async (): Promise<void> => {
      for await (const word of streamOf(['s1', 's2', 's3']).pipeThrough(throttleStream<string>(limiter))) seen.push(word)
    }
    const taking = async (): Promise<void> => {
      for await (const word of words) seen.push(word)
    }
    const started = performance.now()
    const putting = async (): Promise<void> => {
      for (const word of ['c1', 'c2', 'c3']) await words.put(word)
      words.close()
    }
    await Promise.all([say('f1'), say('f2'), say('f3'), iterating(), streaming(), taking(), putting()])
    // Eleven of the twelve waited 10 ms each.
    expect(performance.now() - started).toBeGreaterThanOrEqual(110)
    for (const kind of 'fisc') expect(seen.filter((word) => word.startsWith(kind))).toEqual([1, 2, 3].map((nth) => `${kind}${nth}`))
  })
})
