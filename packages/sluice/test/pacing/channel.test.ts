import { describe, expect, it, vi } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { type Channel, channel } from '../../src/pacing.ts'
import { manualClock } from '../../src/time/manual.ts'
import { settle } from './settle.ts'

/** A channel on a clock of its own, and a record of what its takers got. */
function made(options: Partial<Parameters<typeof channel>[1]> = {}, burst = 1) {
  const clock = manualClock()
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst }), clock })
  const items: Channel<number> = channel(limiter, { capacity: 2, clock, ...options })
  const seen: string[] = []
  const take = (name: string, own?: Parameters<typeof items.take>[0]): Promise<void> =>
    items.take(own).then(
      (item) => void seen.push(`${name} ${item}`),
      (error: Error) => void seen.push(`${name} ${error.message}`),
    )
  const put = (item: number, own?: Parameters<typeof items.put>[1]): Promise<void> =>
    items.put(item, own).then(
      () => void seen.push(`put ${item}`),
      (error: Error) => void seen.push(`put ${item} ${error.message}`),
    )
  const advance = async (ms: number): Promise<void> => {
    await settle()
    clock.advance(ms)
    await settle()
  }
  const waitMs = async (): Promise<number> => (await limiter.peek('pacing')).retryAfterMs ?? 0
  return { clock, limiter, items, seen, take, put, advance, waitMs }
}

describe('channel', () => {
  it('gives items to takers in order, no faster than the limit', async () => {
    const { seen, take, put, advance } = made({ capacity: 3 })
    for (const item of [1, 2, 3]) await put(item)
    seen.length = 0
    for (const name of ['a', 'b', 'c']) void take(name)
    await settle()
    expect(seen).toEqual(['a 1'])
    await advance(999)
    expect(seen).toEqual(['a 1'])
    await advance(1)
    expect(seen).toEqual(['a 1', 'b 2'])
    await advance(1_000)
    expect(seen).toEqual(['a 1', 'b 2', 'c 3'])
  })

  it('is bounded: a put beyond the capacity waits until an item is taken', async () => {
    const { items, seen, take, put } = made({ capacity: 2 }, 9)
    for (const item of [1, 2, 3, 4]) void put(item)
    await settle()
    expect(seen).toEqual(['put 1', 'put 2'])
    expect(items.size).toBe(4)
    void take('a')
    await settle()
    expect(seen.slice(2).sort()).toEqual(['a 1', 'put 3'])
  })

  it('without a buffer, a put waits for its take', async () => {
    const { seen, take, put } = made({ capacity: 0 }, 9)
    void put(1)
    void put(2)
    await settle()
    expect(seen).toEqual([])
    void take('a')
    await settle()
    expect(seen.sort()).toEqual(['a 1', 'put 1'])
  })

  it('takes a turn only when there are an item and a taker', async () => {
    const { limiter, take, put, items } = made({}, 5)
    const left = async (): Promise<number | undefined> => (await limiter.peek('pacing')).limits[0]?.remaining
    void take('a')
    void take('b')
    await settle()
    expect(await left()).toBe(5)
    await put(1)
    await settle()
    expect(await left()).toBe(4)
    await put(2)
    await put(3)
    await settle()
    expect([await left(), items.size]).toEqual([3, 1])
  })

  it('when it is closed, takers drain it, waiting puts included, and then get the end; further puts are refused', async () => {
    const { items, seen, take, put, advance } = made({ capacity: 1 })
    for (const item of [1, 2]) void put(item)
    await settle()
    items.close()
    items.close()
    await expect(items.put(3)).rejects.toMatchObject({ code: 'CLOSED', message: 'channel.put: the channel is closed' })
    for (const name of ['a', 'b', 'c']) void take(name)
    await advance(0)
    expect(seen).toEqual(['put 1', 'a 1', 'put 2'])
    await advance(1_000)
    expect(seen).toEqual(['put 1', 'a 1', 'put 2', 'b 2', 'c undefined'])
    expect(await items.take()).toBeUndefined()
  })

  it('ends takers that wait when it is closed while empty', async () => {
    const { items, seen, take } = made()
    void take('a')
    await settle()
    items.close()
    await settle()
    expect(seen).toEqual(['a undefined'])
  })

  it('refuses undefined, which would be the end', async () => {
    await expect((made().items as Channel<unknown>).put(undefined)).rejects.toThrow('the item is undefined')
  })

  it('is iterated until it ends; to stop iterating leaves it open and gives the turn back', async () => {
    const { items, put, advance, waitMs } = made({ capacity: 5 })
    for (const item of [1, 2, 3]) await put(item)
    const some: number[] = []
    for await (const item of items) {
      some.push(item)
      break
    }
    const iterator = items[Symbol.asyncIterator]() as AsyncGenerator<number>
    const second = iterator.next()
    await settle()
    expect(await waitMs()).toBe(2_000)
    expect((await iterator.return(undefined)).done).toBe(true)
    expect((await second).done).toBe(true)
    await settle()
    expect([some, items.size, await waitMs()]).toEqual([[1], 2, 1_000])
    items.close()
    const reading = (async () => {
      for await (const item of items) some.push(item)
    })()
    for (let turn = 0; turn < 3; turn += 1) await advance(1_000)
    await reading
    expect(some).toEqual([1, 2, 3])
  })

  it('a taker that leaves takes nothing: the next one gets its item and its turn', async () => {
    const { seen, take, put, advance, waitMs } = made({ capacity: 5 })
    const [first, last] = [new AbortController(), new AbortController()]
    for (const item of [1, 2, 3]) await put(item)
    seen.length = 0
    void take('a')
    void take('b', { signal: first.signal })
    void take('c')
    void take('d', { signal: last.signal })
    await settle()
    expect(await waitMs()).toBe(3_000)
    last.abort(new Error('left'))
    await settle()
    expect(await waitMs()).toBe(3_000)
    first.abort(new Error('left'))
    await settle()
    expect(await waitMs()).toBe(2_000)
    await advance(1_000)
    expect(seen).toEqual(['a 1', 'd left', 'b left', 'c 2'])
    void take('e', { signal: first.signal })
    await settle()
    expect(seen.at(-1)).toBe('e left')
  })

  it('a put that leaves puts nothing', async () => {
    const { items, seen, take, put } = made({ capacity: 1 }, 9)
    const controller = new AbortController()
    await put(1)
    void put(2, { signal: controller.signal })
    void put(3)
    await settle()
    controller.abort(new Error('left'))
    await settle()
    for (const name of ['a', 'b']) await take(name)
    expect(seen.sort()).toEqual(['a 1', 'b 3', 'put 1', 'put 2 left', 'put 3'])
    items.close()
    expect(await items.take()).toBeUndefined()
  })

  it('a closed channel whose last put leaves ends its takers', async () => {
    const { items, seen, take, put } = made({ capacity: 0 })
    const controller = new AbortController()
    void put(1, { signal: controller.signal })
    await settle()
    items.close()
    controller.abort(new Error('left'))
    await take('a')
    expect(seen).toEqual(['put 1 left', 'a undefined'])
  })

  it('ends with its signal: what waits and later calls reject with the reason, and turns are given back', async () => {
    const controller = new AbortController()
    const { items, seen, take, put, waitMs } = made({ capacity: 1, signal: controller.signal })
    for (const item of [1, 2]) void put(item)
    await take('a')
    void take('b')
    void put(3)
    await settle()
    expect(await waitMs()).toBe(2_000)
    controller.abort(new Error('over'))
    await settle()
    expect(seen).toEqual(expect.arrayContaining(['b over', 'put 3 over']) as string[])
    expect(await waitMs()).toBe(1_000)
    for (const call of [items.take(), items.put(4)]) await expect(call).rejects.toThrow('over')
    const late = channel(tokenBucket({ rate: '1/s', burst: 1 }), { capacity: 1, signal: controller.signal })
    await expect(late.put(1)).rejects.toThrow('over')
  })

  it('listens once to a signal of many calls, and leaves no listener behind', async () => {
    const { items, put, take } = made({ capacity: 100 }, 100)
    const { signal } = new AbortController()
    const [added, removed] = (['addEventListener', 'removeEventListener'] as const).map((name) => vi.spyOn(signal, name))
    const taking = Array.from({ length: 50 }, (_, nth) => take(`${nth}`, { signal }))
    await settle()
    expect(added).toHaveBeenCalledTimes(1)
    for (let item = 0; item < 50; item += 1) await put(item)
    await Promise.all(taking)
    expect(removed).toHaveBeenCalledTimes(1)
    expect(items.size).toBe(0)
  })

  it('bounds the calls that wait, and refuses a turn beyond maxWaitMs; the item stays', async () => {
    const { items, put, take, seen, advance } = made({ capacity: 1, maxWaiting: 1, maxWaitMs: 500 })
    void put(1)
    void put(2)
    await expect(items.put(3)).rejects.toMatchObject({ code: 'OVERLOAD', message: 'channel.put: 1 calls are waiting already (maxWaiting)' })
    await take('a')
    await take('b')
    expect(seen.at(-1)).toMatch(/^b channel: default has no turn within 500 ms/)
    void take('c')
    await expect(items.take()).rejects.toMatchObject({ code: 'OVERLOAD' })
    await advance(0)
    expect(seen.at(-1)).toMatch(/^c channel: default has no turn/)
    await advance(600)
    await Promise.all([take('d'), advance(400)])
    expect(seen.at(-1)).toBe('d 2')
  })

  it('has room for a take as soon as another leaves', async () => {
    const { items, put, take, advance } = made({ maxWaiting: 1 })
    for (const item of [1, 2]) await put(item)
    await take('a')
    const controller = new AbortController()
    const again = items.take({ signal: controller.signal }).catch(() => items.take())
    await settle()
    controller.abort()
    await advance(1_000)
    expect(await again).toBe(2)
  })

  it('keeps both orders under many puts and takes that come and leave', async () => {
    let random = 7
    const pick = (count: number): number => (random = (random * 48_271) % 2_147_483_647) % count
    const clock = manualClock()
    const items = channel<number>(tokenBucket({ rate: '1000/s', burst: 3 }), { capacity: 4, clock })
    const gone: number[] = []
    const got: { readonly taker: number; readonly item: number }[] = []
    let accepted: number[] = []
    for (let round = 0; round < 600; round += 1) {
      const controller = new AbortController()
      if (pick(2) === 0)
        items.put(round, { signal: controller.signal }).then(
          () => accepted.push(round),
          () => gone.push(round),
        )
      else
        items.take({ signal: controller.signal }).then(
          (item) => void (item === undefined || got.push({ taker: round, item })),
          () => {},
        )
      if (pick(4) === 0) controller.abort()
      if (pick(3) === 0) await new Promise((resolve) => setImmediate(resolve))
      if (pick(3) === 0) clock.advance(pick(3))
      if (pick(6) === 0) controller.abort()
    }
    items.close()
    void (async () => {
      for await (const item of items) got.push({ taker: 10_000 + item, item })
    })()
    for (let turn = 0; turn < 400 && items.size > 0; turn += 1) {
      clock.advance(1)
      await settle()
    }
    await settle()
    accepted = accepted.sort((one, other) => one - other)
    expect(got.map(({ item }) => item)).toEqual(accepted)
    const takers = got.filter(({ taker }) => taker < 10_000).map(({ taker }) => taker)
    expect(takers).toEqual(takers.toSorted((one, other) => one - other))
    expect(accepted.filter((item) => gone.includes(item))).toEqual([])
    expect(accepted.length).toBeGreaterThan(100)
  })

  it.each([
    [{}, 'capacity is undefined'],
    [{ capacity: -1 }, 'capacity is -1, expected a whole number of at least 0'],
    [{ capacity: 1.5 }, 'capacity is 1.5'],
    [{ capacity: 1, cost: () => 1 }, 'cost is a function, expected a number above 0'],
    [{ capacity: 1, size: 2 }, 'unknown option size'],
  ])('refuses %j', (options, message) => {
    expect(() => channel(tokenBucket({ rate: '1/s', burst: 1 }), options as never)).toThrow(message)
  })
})
