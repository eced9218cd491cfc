import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { headersOf } from '../../src/http/headers.ts'
import { createEngine, type Engine, parsePolicy } from '../../src/policy.ts'
import { requestOf, bare, type BundleBench, bundleBench } from './bundle-bench.ts'
import { failingStore, remoteMemory } from '../remote-memory.ts'

/** What Fairvisor's own tests of a bundle expect: outcome, remaining tokens as sent in the header, seconds to wait after a rejection. */
type Seen = readonly [outcome: string, remaining: number, wait?: number]

async function seen(engine: Engine, facts: RequestFacts): Promise<Seen> {
  const decision = await engine.decide(facts)
  const remaining = Number(new Map(headersOf(decision, decision.identity, engine.headers)).get('RateLimit-Remaining'))
  return decision.outcome === 'denied'
    ? [decision.outcome, remaining, Math.ceil((decision.retryAfterMs ?? Number.NaN) / 1_000)]
    : [decision.outcome, remaining]
}

const ok = (remaining: number): Seen => ['allowed', remaining]
const no = (wait: number): Seen => ['denied', 0, wait]
const counting = (from: number, to: number): Seen[] => Array.from({ length: from - to + 1 }, (_, index) => ok(from - index))
const at = (rate: number, burst: number, more: object = {}): BundleBench => bundleBench(bare({ tokens_per_second: rate, burst, ...more }))

async function costs({ engine }: BundleBench, ...list: readonly number[]): Promise<Seen[]> {
  const all = []
  for (const cost of list) all.push(await seen(engine, requestOf({ cost })))
  return all
}
const ones = (bench: BundleBench, count: number): Promise<Seen[]> => costs(bench, ...Array<number>(count).fill(1))

describe('the cases of a token bucket', () => {
  it('1 to 3: two hundred from fresh, then none, and a hundred after a second', async () => {
    const bench = at(100, 200)
    expect(await ones(bench, 200)).toEqual(counting(199, 0))
    expect(await ones(bench, 1)).toEqual([no(1)])
    bench.clock.advance(1_000)
    expect(await ones(bench, 1)).toEqual([ok(99)])
  })

  it('4: refills up to the burst', async () => {
    const bench = at(100, 200)
    await ones(bench, 50)
    bench.clock.advance(10_000)
    expect(await ones(bench, 1)).toEqual([ok(199)])
  })

  it('5 and 6: takes a cost at once, or not at all', async () => {
    expect(await costs(at(100, 200), 10)).toEqual([ok(190)])
    expect(await costs(at(50, 100), 97, 10, 3)).toEqual([ok(3), no(1), ok(0)])
  })

  it('7: a cost of zero counts as one', async () => {
    const { engine } = at(100, 200, { cost_source: 'header:w' })
    expect(await seen(engine, requestOf({ headers: { w: '0' } }))).toEqual(ok(199))
  })

  it('8: a clock that steps back takes nothing away', async () => {
    const bench = at(10, 10)
    await costs(bench, 5)
    bench.clock.shift(-1_000_000)
    expect(await ones(bench, 1)).toEqual([ok(4)])
  })

  it('9: a key of which nothing is known is a full bucket', async () => {
    expect(await ones(at(10, 10), 1)).toEqual([ok(9)])
  })

  it('10: a cost above the burst is impossible, where that system says five seconds', async () => {
    const bench = at(10, 100)
    expect(await costs(bench, 150)).toEqual([['impossible', 0]])
    expect(await costs(bench, 100)).toEqual([ok(0)])
  })

  it('11: a long time refills no more than the burst', async () => {
    const bench = at(1, 50)
    await ones(bench, 50)
    bench.clock.advance(10_000_000)
    expect(await ones(bench, 1)).toEqual([ok(49)])
  })

  it('12: a store that fails lets pass, and what remains is not invented', async () => {
    const { engine, clock } = at(10, 10)
    const decision = await createEngine({ policy: engine.policy, store: failingStore('memory'), clock }).decide(requestOf())
    expect(decision).toMatchObject({ outcome: 'undecided', allowed: true, limits: [] })
  })

  it('13: a decision calls the store once, and shares nothing with the next', async () => {
    const { engine, store, clock } = at(10, 10)
    let decided = 0
    const counter = remoteMemory(store, {
      decide: (groups, options) => {
        decided += groups.length
        return store.decide(groups, options)
      },
    })
    const counted = createEngine({ policy: engine.policy, store: counter, clock })
    const [first, second] = [await counted.decide(requestOf()), await counted.decide(requestOf())]
    expect([decided, first.limits[0]?.remaining, second.limits[0]?.remaining]).toEqual([2, 9, 8])
  })

  it('14: ten and no more', async () => {
    expect(await ones(at(10, 10), 11)).toEqual([...counting(9, 0), no(1)])
  })

  it('15: a rejection takes nothing', async () => {
    const bench = at(10, 10)
    await ones(bench, 11)
    bench.clock.advance(500)
    expect(await ones(bench, 1)).toEqual([ok(4)])
  })

  it('16: four times five, then none', async () => {
    expect(await costs(at(10, 20), 5, 5, 5, 5, 1)).toEqual([ok(15), ok(10), ok(5), ok(0), no(1)])
  })

  it('17: keys are apart', async () => {
    const { engine } = bundleBench(bare({ rps: 5, burst: 5 }, { limit_keys: ['header:k'] }))
    const found = []
    for (const k of 'AABAAAAB') found.push(await seen(engine, requestOf({ headers: { k } })))
    expect(found).toEqual([ok(4), ok(3), ok(4), ok(2), ok(1), ok(0), no(1), ok(3)])
  })
})

describe('further vectors', () => {
  const timed = async (bench: BundleBench, steps: readonly (readonly [seconds: number, cost: number])[]): Promise<Seen[]> => {
    const all = []
    for (const [seconds, cost] of steps) {
      bench.clock.shift(Math.round(seconds * 1_000_000) - bench.clock.now())
      all.push(...(await costs(bench, cost)))
    }
    return all
  }

  it('half a token admits nothing', async () => {
    expect(
      await timed(at(10, 10), [
        [1_000, 10],
        [1_000.05, 1],
        [1_000.1, 1],
        [1_000.15, 1],
      ]),
    ).toEqual([ok(0), no(1), ok(0), no(1)])
  })

  it('one in ten seconds', async () => {
    expect(
      await timed(at(0.1, 1), [
        [1_000, 1],
        [1_003, 1],
        [1_010, 1],
      ]),
    ).toEqual([ok(0), no(7), ok(0)])
  })

  it('a third is exact: the token is there after three seconds, where that system loses it to six decimals', async () => {
    const steps = [
      [1_000, 1],
      [1_001, 1],
      [1_002, 1],
      [1_003, 1],
    ] as const
    expect(await timed(at(0.3333333333333333, 1), steps)).toEqual([ok(0), no(2), no(1), ok(0)])
    expect(await timed(at(0.333333, 1), steps)).toEqual([ok(0), no(3), no(2), no(1)])
  })

  it('a clock that steps back and forth mints nothing, where that system gives ten tokens', async () => {
    const bench = at(10, 10)
    const steps = [
      [1_000, 10],
      [999, 1],
      [1_000, 1],
      [1_000.1, 1],
      [1_000.1, 1],
    ] as const
    expect((await timed(bench, steps)).map(([outcome]) => outcome)).toEqual(['allowed', 'denied', 'denied', 'allowed', 'denied'])
  })

  it('what a rejection leaves is still there, and sent as 0', async () => {
    const bench = at(1, 5)
    expect(await costs(bench, 4, 2)).toEqual([ok(1), no(1)])
    expect((await bench.engine.peek(requestOf({ cost: 2 }))).limits[0]?.remaining).toBe(1)
    expect(await costs(bench, 1, 1)).toEqual([ok(0), no(1)])
  })

  it('fractions of a token', async () => {
    expect(await costs(at(1, 2), 0.5, 0.5, 0.75, 0.5)).toEqual([ok(1), ok(1), ok(0), no(1)])
  })

  it('a lowered burst cuts what is there', async () => {
    const bench = at(1, 50)
    await costs(bench, 1)
    bench.engine.reload(parsePolicy(JSON.stringify(bare({ tokens_per_second: 1, burst: 2 })), { format: 'json' }))
    expect(await ones(bench, 3)).toEqual([ok(1), ok(0), no(1)])
  })
})
