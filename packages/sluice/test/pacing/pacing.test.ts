import { describe, expect, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { throttleFunction, throttleIterable } from '../../src/pacing.ts'
import { manualClock } from '../../src/time/manual.ts'

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

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

  it('passes results and errors on, and a failed call does not stop the next', async () => {
    const half = throttleFunction(
      (value: number) => {
        if (value % 2 === 1) throw new Error(`odd ${value}`)
        return value / 2
      },
      tokenBucket({ rate: '10/s', burst: 9 }),
    )
    await expect(half(3)).rejects.toThrow('odd 3')
    expect(await half(4)).toBe(2)
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

  it('stops waiting when aborted during a call of the limiter', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 1 }), clock })
    const aborting = { ...limiter, check: async (key: string) => (controller.abort(new Error('enough')), limiter.check(key)) }
    await limiter.check('pacing')
    await expect(throttleFunction(() => 1, aborting, { clock, signal: controller.signal })()).rejects.toThrow('enough')
  })

  it('stops waiting when aborted, and bounds what waits', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const limit = tokenBucket({ rate: '1/day', burst: 1 })
    const once = throttleFunction(() => 1, limit, { clock, signal: controller.signal, maxWaiting: 2 })
    expect(await once()).toBe(1)
    const waits = [once(), once()]
    await expect(once()).rejects.toThrow('2 turns are waiting already')
    await settle()
    controller.abort(new Error('enough'))
    for (const wait of waits) await expect(wait).rejects.toThrow('enough')
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
})
