import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { concurrency, concurrencyKernel } from '../../src/algorithms/concurrency.ts'
import { applyGroup } from '../../src/algorithms/group.ts'
import { shareOf } from '../../src/algorithms/share.ts'
import type { SlotState } from '../../src/algorithms/slot-state.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { seeded } from '../../src/testing/random.ts'
import { draws } from '../draws.ts'
import { type SlotAnswer, SlotOracle } from './oracles/slots.ts'

const TOKEN = 1_000_000
const S = 1_000_000
const START = 1_763_692_800_123_456

/** One key, as a store that never forgets keeps it. */
class Key {
  state: SlotState | undefined
  readonly algorithm = concurrencyKernel

  acquire({ plan }: AnyLimit, id: string | undefined, now: number, cost = TOKEN, micros?: number) {
    const own = id === undefined ? plan : this.algorithm.holding?.(plan, micros === undefined ? { id } : { id, micros })
    const adopted = this.state && this.algorithm.adopt(own, this.state, now, 0)
    const { outcome, remaining, retryAfter, replenishAfter, resetAfter, state } = this.algorithm.decide(own, adopted, now, cost, 0)
    this.state = state
    // As the driver does.
    const grant = outcome === 'allowed' && state !== undefined ? this.algorithm.granted?.(own, state) : undefined
    return { outcome, remaining, retryAfter, replenishAfter, resetAfter, ...grant }
  }

  release(id: string, now: number): void {
    this.state = this.algorithm.release?.(concurrency({ limit: 1, holdMs: 1 }).plan, this.state, now, id)
  }

  extend(id: string, now: number, micros: number): void {
    this.state = this.algorithm.prolong?.(concurrency({ limit: 1, holdMs: 1 }).plan, this.state, now, { id, micros })
  }
}

describe('a concurrency limit', () => {
  const two = concurrency({ limit: 2, holdMs: 10_000 })

  it('answers as this table says', () => {
    const key = new Key()
    const rows: readonly (readonly [seconds: number, call: string, outcome: string, remaining: number, retry: number, reset: number])[] = [
      [0, 'a', 'allowed', 1, 0, 10],
      [2, 'b', 'allowed', 0, 0, 10],
      [3, 'c', 'denied', 0, 7, 9],
      [4, 'a', 'allowed', 0, 0, 8],
      [9, 'c', 'denied', 0, 1, 3],
      [10, 'c', 'allowed', 0, 0, 10],
      [11, 'd', 'denied', 0, 1, 9],
      [12, 'd', 'allowed', 0, 0, 10],
      [30, 'e', 'allowed', 1, 0, 10],
    ]
    for (const [seconds, id, ...expected] of rows) {
      const { outcome, remaining, retryAfter, resetAfter } = key.acquire(two, id, START + seconds * S)
      expect([outcome, remaining, retryAfter / S, resetAfter / S]).toEqual(expected)
    }
  })

  it('a call without a holder takes a slot too, until its time is over, and nobody can give it back', () => {
    const key = new Key()
    expect(key.acquire(two, undefined, START)).toEqual({
      outcome: 'allowed',
      remaining: 1,
      retryAfter: 0,
      replenishAfter: 10 * S,
      resetAfter: 10 * S,
    })
    key.acquire(two, undefined, START)
    expect(key.acquire(two, undefined, START + 10 * S - 1).outcome).toBe('denied')
    expect(key.acquire(two, undefined, START + 10 * S).outcome).toBe('allowed')
  })

  it('is impossible above the limit, also for a holder (law 2)', () => {
    const key = new Key()
    expect(key.acquire(two, 'a', START, 3 * TOKEN)).toMatchObject({ outcome: 'impossible', remaining: 2 })
    expect(key.state).toBeUndefined()
    key.acquire(two, 'a', START)
    expect(key.acquire(two, 'a', START, 3 * TOKEN).outcome).toBe('impossible')
  })

  it('a denied call changes nothing (law 1)', () => {
    const key = new Key()
    key.acquire(two, 'a', START, 2 * TOKEN)
    const before = key.state
    expect(key.acquire(two, 'b', START + 1).outcome).toBe('denied')
    expect(key.state).toBe(before)
  })

  it('a state lives until the last hold ends, and no longer (law 6)', () => {
    const key = new Key()
    key.acquire(two, 'a', START)
    key.acquire(two, 'b', START + 1, TOKEN, 5 * S)
    const state = key.state as SlotState
    expect(concurrencyKernel.expiresAt(two.plan, state)).toBe(START + 10 * S)
    key.release('a', START + 2)
    expect(concurrencyKernel.expiresAt(two.plan, key.state as SlotState)).toBe(START + 1 + 5 * S)
    key.release('b', START + 3)
    expect(key.state).toBeUndefined()
    // The slot is given back in the microsecond of its grant. The state is kept until that microsecond is over, so that the next fencing
    // number is higher.
    key.acquire(two, 'a', START + 4)
    key.release('a', START + 4)
    expect(concurrencyKernel.expiresAt(two.plan, key.state as SlotState)).toBe(START + 5)
  })

  it('its states are whole numbers, and the same again', () => {
    const key = new Key()
    key.acquire(two, 'a', START)
    key.acquire(two, 'a long id with \u{1F512} and spaces', START + 1, 1)
    const numbers = concurrencyKernel.codec.encodeState(key.state as SlotState)
    expect(numbers).toHaveLength(2 + 5 * 2)
    expect(numbers.every(Number.isSafeInteger)).toBe(true)
    expect(concurrencyKernel.codec.decodeState(numbers)).toEqual(key.state)
  })

  it('has room for 4,000 holders, also where costs are fractions; then it denies', () => {
    const key = new Key()
    const limit = concurrency({ limit: 2, holdMs: 1_000 })
    for (let index = 0; index < 400; index += 1) expect(key.acquire(limit, `${index}`, START + index, 1).outcome).toBe('allowed')
    // The others at once, as a store would read them.
    const [seen = 0, last = 0, ...holders] = concurrencyKernel.codec.encodeState(key.state as SlotState)
    for (let index = 400; index < 4_000; index += 1) holders.push(index, index, 1, START + index + S, START + index)
    key.state = concurrencyKernel.codec.decodeState([seen, last, ...holders])
    expect(key.acquire(limit, 'more', START + 4_000, 1)).toMatchObject({ outcome: 'denied', remaining: 0, retryAfter: S - 4_000 })
    expect(key.acquire(limit, '17', START + 4_000, 1).outcome).toBe('allowed')
    expect(key.acquire(limit, 'more', START + S, 1).outcome).toBe('allowed')
  })

  it.each([
    [{ limit: 0, holdMs: 1_000 }, 'INVALID_LIMIT'],
    [{ limit: 4_001, holdMs: 1_000 }, 'the largest is 4000: its state names every holder'],
    [{ limit: 1 }, 'concurrency: holdMs is undefined, expected 1 to 2592000000'],
    [{ limit: 1, holdMs: 0 }, 'holdMs is 0'],
    [{ limit: 1, holdMs: '30s' }, 'holdMs is "30s"'],
    [{ limit: 1, holdMs: 2_592_000_001 }, 'expected 1 to 2592000000'],
    [{ limit: 1, holdMs: 5, window: '1s' }, 'unknown option window; known are limit, holdMs'],
  ])('refuses %j', (options, message) => {
    let text = ''
    try {
      concurrency(options as never)
    } catch (error) {
      text = `${(error as { code: string }).code} ${(error as Error).message}`
    }
    expect(text).toContain(message)
  })

  it('its part for one of several processes has that part of the slots', () => {
    expect(shareOf(concurrency({ limit: 10, holdMs: 1_000 }), 4)).toMatchObject({ capacity: 2.5 })
  })

  it('in a group: all or nothing, and one grant where a state comes twice', () => {
    const limit = { ...two, plan: concurrencyKernel.holding?.(two.plan, { id: 'a' }) ?? two.plan }
    const bucket = tokenBucket({ rate: '1/s', burst: 1 })
    const calls = [limit, limit].map((one) => ({ slot: 0, limit: one, cost: TOKEN, phase: 0 }))
    const result = applyGroup([undefined, undefined], [...calls, { slot: 1, limit: bucket, cost: TOKEN, phase: 0 }], START)
    expect(result.outcome).toBe('allowed')
    expect(result.calls.map(({ grant }) => grant)).toEqual([
      { until: START + 10 * S, fence: START },
      { until: START + 10 * S, fence: START },
      undefined,
    ])
    const held = result.writes.find(({ slot }) => slot === 0)?.state as SlotState
    expect(held.holders.slice(2)).toEqual([2 * TOKEN, START + 10 * S, START])
    const empty = bucket.algorithm.adjust(bucket.plan, undefined, START, -TOKEN, 0)
    const denied = applyGroup([undefined, empty], [calls[0] as never, { slot: 1, limit: bucket, cost: TOKEN, phase: 0 }], START)
    expect([denied.outcome, denied.writes.length, denied.calls[0]?.grant]).toEqual(['denied', 0, undefined])
  })
})

describe('the law of slots', () => {
  it('live holders are never above the limit at any instant, and each answer is that of an oracle which forgets nothing', () => {
    const random = seeded(20_261_123)
    const pick = (count: number): number => Math.floor(random() * count)
    const counts = { allowed: 0, denied: 0, impossible: 0, released: 0, extended: 0 }
    let [key, oracle] = [new Key(), new SlotOracle()]
    let now = START
    // As during a deploy, two policies are called in turn. Their limits and hold times differ, and one limit has decimals.
    const limits = [
      concurrency({ limit: 3, holdMs: 5_000 }),
      concurrency({ limit: '4.5', holdMs: 800 }),
      concurrency({ limit: 2, holdMs: 1 }),
    ]
    for (let turn = 0; turn < draws(1_000_000, 8_000); turn += 1) {
      if (turn % 1_000 === 0) [key, oracle] = [new Key(), new SlotOracle()]
      now += random() < 0.05 ? -pick(3 * S) : pick(3) * pick(5) * pick(100_000)
      const limit = limits[pick(10) < 7 ? 0 : pick(3)] as (typeof limits)[number]
      const id = `h${pick(8)}`
      const verb = random()
      if (verb < 0.4) {
        key.release(id, now)
        oracle.release(BigInt(now), id)
        counts.released += 1
        continue
      }
      if (verb < 0.5) {
        const by = 1 + pick(6 * S)
        key.extend(id, now, by)
        oracle.extend(BigInt(now), id, BigInt(by))
        counts.extended += 1
        continue
      }
      const cost = [TOKEN, TOKEN, TOKEN, 2 * TOKEN, 500_000, 5 * TOKEN][pick(6)] as number
      const micros = pick(4) === 0 ? 1 + pick(4 * S) : undefined
      const { plan } = limit
      const expected = oracle.acquire(BigInt(now), id, BigInt(cost), BigInt(plan.limit), BigInt(micros ?? plan.hold))
      const { replenishAfter: _next, resetAfter: _fresh, ...answer } = key.acquire(limit, id, now, cost, micros)
      // A comparison by vitest for each of a million takes minutes.
      if (!isSame(answer, expected)) expect(answer).toEqual(expected)
      counts[answer.outcome] += 1
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(draws(10_000, 80))
  })

  it('waiting retryAfter is enough if nobody else comes, and a microsecond less is not (law 4)', () => {
    const random = seeded(7)
    const limit = concurrency({ limit: 3, holdMs: 1_000 })
    let checked = 0
    for (let turn = 0; turn < draws(20_000, 1_000); turn += 1) {
      const key = new Key()
      let now = START
      for (let index = 0; index < 6; index += 1) {
        now += Math.floor(random() * 400_000)
        const cost = TOKEN * (1 + Math.floor(random() * 3))
        const { outcome, retryAfter } = key.acquire(limit, `h${index}`, now, cost, 1 + Math.floor(random() * 2 * S))
        if (outcome !== 'denied') continue
        checked += 1
        const { state } = key
        expect(key.acquire(limit, 'again', now + retryAfter - 1, cost).outcome).toBe('denied')
        expect(key.acquire(limit, 'again', now + retryAfter, cost).outcome).toBe('allowed')
        key.state = state
      }
    }
    expect(checked).toBeGreaterThan(100)
  })
})

function isSame(one: SlotAnswer, other: SlotAnswer): boolean {
  const { outcome, remaining, retryAfter, until, fence } = other
  return (
    one.outcome === outcome && one.remaining === remaining && one.retryAfter === retryAfter && one.until === until && one.fence === fence
  )
}
