import { describe, expect, it } from 'vitest'
import {
  type AnyLimit,
  createLimiter,
  fixedWindow,
  type Limiter,
  memoryStore,
  slidingWindowCounter,
  slidingWindowLog,
  type Store,
  tokenBucket,
} from '../../src/index.ts'
import type { DecisionEvent } from '../../src/observe/events.ts'
import { remoteStore } from '../../src/remote.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore, remoteMemory } from '../remote-memory.ts'

const free = tokenBucket({ rate: '1/s', burst: 5 })
const pro = tokenBucket({ rate: '10/s', burst: 20 })

/** Calls these limiters on one key in turn, until all of them deny. Returns how many calls were allowed. */
async function admitted(limiters: readonly Limiter[]): Promise<number> {
  let sum = 0
  let denials = 0
  for (let turn = 0; denials < limiters.length; turn += 1) {
    const { allowed } = await (limiters[turn % limiters.length] as Limiter).check('key')
    denials = allowed ? 0 : denials + 1
    if (allowed) sum += 1
  }
  return sum
}

describe('a limiter with another limit', () => {
  it('has the same name, store, keys, failure policy and observers', async () => {
    const events: DecisionEvent[] = []
    const observers = [{ onDecision: (event: DecisionEvent) => void events.push(event) }]
    const limiter = createLimiter({ name: 'api', limits: { plan: free }, observers, clock: manualClock() })
    const other = limiter.withLimit(pro)
    expect([other.name, other.limits]).toEqual(['api', { plan: pro }])
    expect(await limiter.check('k')).toMatchObject({ limits: [{ name: 'plan', limit: 5, remaining: 4 }] })
    expect(await other.check('k')).toMatchObject({ limits: [{ name: 'plan', limit: 20, remaining: 3 }] })
    await other.block('k', '1h')
    expect(await limiter.check('k')).toMatchObject({ outcome: 'denied', reason: 'blocked' })
    expect(events.map((event) => event.limiter)).toEqual(['api', 'api', 'api'])
    const away = createLimiter({ limit: free, store: failingStore(), onStoreFailure: 'local' }).withLimit(pro)
    expect(await away.check('k', { cost: 20 })).toMatchObject({ outcome: 'allowed', source: 'fallback' })
  })

  it.each<[string, AnyLimit, AnyLimit, number]>([
    ['token buckets', free, pro, 20],
    ['fixed windows', fixedWindow({ limit: 5, window: '1min' }), fixedWindow({ limit: 20, window: '1min' }), 20],
    ['window counters', slidingWindowCounter({ limit: 5, window: '1min' }), slidingWindowCounter({ limit: 20, window: '1min' }), 20],
    ['window logs', slidingWindowLog({ limit: 5, window: '1min' }), slidingWindowLog({ limit: 20, window: '1min' }), 20],
  ])('law 7: limits that alternate on one key create no tokens: %s', async (_name, small, large, most) => {
    const clock = manualClock()
    for (const order of [
      [small, large],
      [large, small],
    ] as const) {
      const limiter = createLimiter({ limit: order[0], clock })
      expect(await admitted([limiter, limiter.withLimit(order[1])])).toBeLessThanOrEqual(most)
    }
  })

  it('law 7: over time, no more is admitted than the larger limit would admit', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit: free, clock })
    const larger = limiter.withLimit(pro)
    let sum = 0
    for (let second = 0; second <= 60; second += 1) {
      sum += await admitted([limiter, larger])
      clock.advance(1_000)
    }
    expect(sum).toBeLessThanOrEqual(20 + 10 * 60)
  })

  it('a denial that the ring remembers for one limit does not deny under a larger one', async () => {
    const store: Store = remoteStore(remoteMemory(memoryStore()), { deadline: 1_000 })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/h', burst: 5 }), store })
    const larger = limiter.withLimit(tokenBucket({ rate: '1000/s', burst: 1_000 }))
    expect((await limiter.check('k', { cost: 5 })).outcome).toBe('allowed')
    expect((await limiter.check('k')).outcome).toBe('denied')
    expect((await limiter.check('k')).outcome).toBe('denied')
    // The key keeps the tokens that the smaller limit left. From then on it refills at the rate of the larger limit.
    await larger.check('k')
    await expect.poll(async () => (await larger.check('k')).outcome).toBe('allowed')
  })

  it('is closed alone, or with the limiter that it was made from', async () => {
    const limiter = createLimiter({ limit: free })
    const [one, two] = [limiter.withLimit(pro), limiter.withLimit(pro).withLimit(free)]
    await one.close()
    await expect(one.check('k')).rejects.toMatchObject({ code: 'CLOSED' })
    expect((await two.check('k')).allowed).toBe(true)
    await limiter.close()
    await expect(two.check('k')).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('refuses a limit of another algorithm, whose blocks and penalties would not be those of the key', () => {
    const all = [
      free,
      fixedWindow({ limit: 5, window: '1min' }),
      slidingWindowCounter({ limit: 5, window: '1min' }),
      slidingWindowLog({ limit: 5, window: '1min' }),
    ]
    for (const own of all)
      for (const other of all) {
        const build = () => createLimiter({ limits: { plan: own } }).withLimit(other)
        if (own === other) expect(build).not.toThrow()
        else
          expect(build).toThrow(
            expect.objectContaining({
              code: 'INVALID_OPTIONS',
              message: expect.stringContaining(
                `limiter default: limit plan is a ${other.algorithm.name}, but the limiter's own limit is a ${own.algorithm.name};`,
              ),
            }),
          )
      }
  })

  it('refuses several limits, and what is not a limit', () => {
    const several = createLimiter({ limits: { second: free, day: pro } })
    expect(() => several.withLimit(free)).toThrow('limiter default: withLimit is for a limiter with one limit; this one has second, day')
    for (const value of [undefined, null, 5, {}, '10/s'])
      expect(() => createLimiter({ limits: { plan: free } }).withLimit(value as never)).toThrow('limit plan is not a limit')
  })
})
