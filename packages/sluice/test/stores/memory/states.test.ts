import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow, LimiterError, memoryStore, slidingWindowCounter, tokenBucket } from '../../../src/index.ts'
import { States } from '../../../src/stores/memory/states.ts'

const START = 1_763_692_800_123_456

/** The states of one algorithm, each written with the plan id of its limit. A row is found by its digest. */
function kept(limit: AnyLimit) {
  const states = new States(limit.algorithm, { maxBytes: 0, maxHolds: 0 })
  const planIdOf = (lo: number): number => states.table.segment.planIdOf(states.table.find(lo, lo))
  return {
    planIdOf,
    write(lo: number, { algorithm, plan }: AnyLimit, guess = 0): number {
      const { state } = algorithm.decide(plan, undefined, START, 1_000_000, 0)
      return states.write(states.table.find(lo, lo), lo, lo, { algorithm, plan } as AnyLimit, state, guess, START)
    },
    remove: (lo: number): void => states.table.remove(states.table.find(lo, lo)),
  }
}

describe('plan ids of states', () => {
  const bucketOf = (rate: string): AnyLimit => tokenBucket({ rate, burst: 10 })

  it('are one for all states of a plan, and others for other plans', () => {
    const { write, planIdOf } = kept(bucketOf('10/s'))
    const id = write(1, bucketOf('10/s'))
    expect(write(2, bucketOf('10/s'))).toBe(id)
    expect(write(3, bucketOf('11/s'), id)).not.toBe(id)
    expect([planIdOf(1), planIdOf(2)]).toEqual([id, id])
    expect(write(2, bucketOf('11/s'))).toBe(planIdOf(3))
  })

  it('are forgotten with their last row, and given out again', () => {
    const { write, remove } = kept(bucketOf('1/s'))
    const first = write(1, bucketOf('1/s'))
    write(2, bucketOf('1/s'))
    remove(1)
    expect(write(3, bucketOf('2/s'))).not.toBe(first)
    expect(write(1, bucketOf('1/s'))).toBe(first)
    remove(1)
    remove(2)
    expect(write(4, bucketOf('3/s'))).toBe(first)
  })
})

describe('memoryStore', () => {
  it.each([
    ['maxKeys', 0],
    ['maxKeys', -1],
    ['maxKeys', 1.5],
    ['maxKeys', Number.NaN],
    ['maxKeys', Number.POSITIVE_INFINITY],
    ['maxKeys', '10'],
    ['maxBytes', 0],
    ['maxBytes', 0.5],
    ['onFull', 'drop'],
    ['maxStates', 10],
  ])('refuses %s %s, and names it', (name, value) => {
    expect(() => memoryStore({ [name]: value })).toThrow(LimiterError)
    expect(() => memoryStore({ [name]: value })).toThrow(name)
  })
})

describe('limits', () => {
  it('say whether decisions depend on the phase of the key', () => {
    expect(tokenBucket({ rate: '1/s', burst: 1 }).phased).toBe(false)
    expect(slidingWindowCounter({ limit: 1, window: '1s' }).phased).toBe(false)
    expect(fixedWindow({ limit: 1, window: '1s' }).phased).toBe(false)
    expect(fixedWindow({ limit: 1, window: '1s', align: 'key' }).phased).toBe(true)
  })
})
