import { describe, expect, it } from 'vitest'
import { keyOf } from './changing-key.ts'
import { FAMILIES, fixed, instantsOf, randomOf, searched } from './turn-pairs.ts'
import { greediest, type Promised, type Turn } from './turns.ts'
import { draws } from '../draws.ts'

const S = 1_000_000

/** How many tokens a caller gets that takes all it can in every second. `called` says which limits it calls in a second. */
function admitted(seconds: number, called: (second: number) => readonly Turn[]): number {
  const key = keyOf()
  let sum = 0
  for (let second = 0; second <= seconds; second += 1) {
    for (const { limit } of called(second)) while (key.decide(limit, second, 1).outcome === 'allowed') sum += 1
  }
  return sum
}

/** The worst ratio that many greedy callers reach, if both limits are called in turn. */
function worst(pair: readonly [Turn, Turn], promised: Promised): number {
  const ratios = Array.from({ length: draws(20, 1) }, (_, seed) => {
    const random = randomOf(seed)
    return greediest(pair, promised, instantsOf(random, pair, 0, 60), 0, 12).ratio
  })
  return Math.max(...ratios)
}

describe('X2: fixed windows that take turns mint nothing', () => {
  it('10 in 1 s and 590 in 60 s by clock, the short one in seconds 0 to 58 and the long one in second 59', () => {
    const [short, long] = [fixed(10, S, 'clock'), fixed(590, 60 * S, 'clock')]
    expect(admitted(299, (second) => [second % 60 === 59 ? long : short])).toBeLessThanOrEqual(2 * 590 + 10 * 299)
    expect(worst([short, long], 'turns')).toBeLessThanOrEqual(1)
  })

  it('5 in 5 s and 8 in 20 s by clock', () => {
    const [short, long] = [fixed(5, 5 * S, 'clock'), fixed(8, 20 * S, 'clock')]
    for (const change of [1, 5, 10, 15, 19]) {
      expect(admitted(235, (second) => [second % 20 < change ? short : long])).toBeLessThanOrEqual(2 * 8 + 235)
    }
    expect(worst([short, long], 'turns')).toBeLessThanOrEqual(1)
  })

  it('29 in 5 s and 1 in 6 s by clock', () => {
    const [short, long] = [fixed(29, 5 * S, 'clock'), fixed(1, 6 * S, 'clock')]
    for (const change of [0, 1, 2, 3, 4, 5]) {
      expect(admitted(175, (second) => (second % 6 === change ? [short, long] : [short]))).toBeLessThanOrEqual(2 * 29 + 5.8 * 175)
    }
    expect(worst([short, long], 'turns')).toBeLessThanOrEqual(1)
    expect(worst([short, long], 'any')).toBeLessThanOrEqual(1)
  })
})

describe('law 7: a greedy caller of two plans that take turns', () => {
  it.each(Object.entries(FAMILIES))('is admitted no more than is promised, %s', (_, family) => {
    for (const { pair, promised, ratio } of searched(family, { pairs: draws(30, 1), instants: 32, width: 8 })) {
      expect({ pair, promised, over: Math.max(1, ratio) }).toEqual({ pair, promised, over: 1 })
    }
  })
})
