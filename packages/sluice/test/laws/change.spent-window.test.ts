import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { keyOf } from './changing-key.ts'
import { MIDNIGHT } from './traces/trace.ts'
import { fixed, instantsOf, randomOf } from './turn-pairs.ts'
import { greediest } from './turns.ts'
import { draws } from '../draws.ts'

const S = 1_000_000
const HOUR = 3_600

/**
 * Tokens are bytes. The first limit is 4 GB an hour, the second 50 MB a second. In an hour the second admits more micro-tokens than exact
 * whole numbers can count.
 */
const hour = fixedWindow({ limit: 4_000_000_000, window: '1h' })
const second = fixedWindow({ limit: 50_000_000, window: '1s' })

describe('law 7 on the fixed window: more than whole numbers count in one window of the longer plan', () => {
  it('a change from a long window to a short one locks nobody out', () => {
    const key = keyOf()
    expect(key.decide(hour, 0, 2_000_000_000).outcome).toBe('allowed')
    const denied = []
    for (let at = HOUR; at < 3 * HOUR; at += 1) if (key.decide(second, at, 1_000_000).outcome !== 'allowed') denied.push(at)
    expect(denied).toEqual([])
  })

  it.each([1, 3, 50_000_000, 1_500_000_000, 4_503_599_627])('at any rate: %s in each part', (limit) => {
    for (const [short, long, window] of [
      [1, HOUR, '1s'],
      [7, 100, '7s'],
      [10, 30, '10s'],
    ] as const) {
      const [key, plan] = [keyOf(), fixedWindow({ limit, window })]
      key.decide(fixedWindow({ limit: 4_500_000_000, window: `${long}s` }), 0, 4_000_000_000)
      const parts = Math.floor(long / short)
      for (let part = 0; part < parts; part += Math.ceil(parts / 100)) {
        const at = long + part * short
        expect([part, key.decide(plan, at, limit)]).toEqual([part, expect.objectContaining({ outcome: 'allowed', remaining: 0 })])
        const next = part === parts - 1 ? 2 * long : at + short
        expect([part, key.decide(plan, at, limit)]).toEqual([part, expect.objectContaining({ outcome: 'denied', retry: next - at })])
      }
    }
  })

  it('the longer plan finds nothing left in that window, and its limit in the next one; then the shorter plan waits for it', () => {
    const key = keyOf()
    key.decide(hour, 0, 2_000_000_000)
    key.decide(second, HOUR, 1_000_000)
    expect(key.decide(second, HOUR + 179, 1_000_000).outcome).toBe('allowed')
    expect(key.state).toMatchObject({ end: MIDNIGHT + 2 * HOUR * S, turn: 6, window: (HOUR - 179) * S, count: 1_000_000 * S })
    expect(key.decide(hour, HOUR + 180, 1)).toMatchObject({ outcome: 'denied', retry: HOUR - 180, remaining: 0, written: 1 })
    expect(key.decide(second, HOUR + 181, 1)).toMatchObject({ outcome: 'denied', retry: HOUR - 181 })
    expect(key.decide(hour, 2 * HOUR, 4_000_000_000).outcome).toBe('allowed')
    expect(key.decide(second, 2 * HOUR + 1, 1)).toMatchObject({ outcome: 'denied', retry: HOUR - 1 })
    // In the next hour the shorter limit passes again in every second, as long as nobody calls the longer one there.
    for (let part = 0; part < 300; part += 1) expect(key.decide(second, 3 * HOUR + part, 50_000_000).outcome).toBe('allowed')
  })

  it('gives a part back, and takes up to twice the limit in it', () => {
    const { algorithm, plan } = second
    const held = { end: 2 * HOUR * S, count: 5_000_000 * S, window: (HOUR - 200) * S, turn: 6 }
    const at = (HOUR + 200.5) * S
    expect(algorithm.adjust(plan, held, at, 2_000_000 * S, 0)).toEqual({ ...held, count: 3_000_000 * S })
    expect(algorithm.adjust(plan, held, at, S, 0, (HOUR + 200) * S - 1)).toBe(held)
    expect(algorithm.adjust(plan, held, at, S, 0, (HOUR + 200) * S)).toEqual({ ...held, count: 5_000_000 * S - S })
    expect(algorithm.adjust(plan, held, at, -500_000_000 * S, 0)).toEqual({ ...held, count: 100_000_000 * S })
    expect(algorithm.adjust(plan, held, at + S, S, 0)).toBe(held)
    expect(algorithm.adjust(plan, { ...held, count: 90_000_000 * S }, at + S, -S, 0)).toEqual({
      ...held,
      count: 40_000_001 * S,
      window: (HOUR - 201) * S,
    })
  })

  it('mints nothing over many windows of the longer plan, whoever comes first in them', () => {
    for (const pair of [
      [fixed(4_000_000_000, 60 * S, 'clock'), fixed(500_000_000, S, 'clock')],
      [fixed(4_503_599_627, 60 * S, 'first'), fixed(4_503_599_627, 7 * S, 'key')],
    ] as const) {
      for (let seed = 0; seed < draws(4, 1); seed += 1) {
        const random = randomOf(seed)
        const instants = instantsOf(random, pair, 0, 60)
        for (const promised of ['turns', 'meeting', 'any'] as const) {
          expect([promised, greediest(pair, promised, instants, 0, 10).ratio <= 1]).toEqual([promised, true])
        }
      }
    }
  })
})
