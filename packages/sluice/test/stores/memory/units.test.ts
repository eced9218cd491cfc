import { describe, expect, it } from 'vitest'
import { fixedWindow, LimiterError, memoryStore, slidingWindowCounter, tokenBucket } from '../../../src/index.ts'
import { Units } from '../../../src/stores/memory/table/units.ts'

const START = 1_763_692_800_123_456

describe('units of states', () => {
  it('are one for all states of a plan, and others for other plans and algorithms', () => {
    const units = new Units()
    const stateOf = (limit: ReturnType<typeof tokenBucket>) =>
      limit.algorithm.decide(limit.plan, undefined, START, 1_000_000, 0).state as never
    const [one, same, other] = ['10/s', '10/s', '11/s'].map((rate) => tokenBucket({ rate, burst: 10 }))
    const id = units.of(one as never, stateOf(one as never), 0)
    expect(units.of(same as never, stateOf(same as never), 0)).toBe(id)
    expect(units.of(other as never, stateOf(other as never), id)).not.toBe(id)
    const windows = [fixedWindow({ limit: 5, window: '1s' }), slidingWindowCounter({ limit: 5, window: '1s' })]
    const ids = windows.map(({ algorithm, plan }, index) => {
      const { state } = algorithm.decide(plan as never, undefined, START, 1_000_000, 0) as { state: unknown }
      return units.of(windows[index] as never, state, id)
    })
    expect(new Set([id, ...ids]).size).toBe(3)
  })

  it('are forgotten with their last row, and their numbers given out again', () => {
    const units = new Units()
    const limits = ['1/s', '2/s', '3/s'].map((rate) => tokenBucket({ rate, burst: 10 }))
    const idOf = (index: number): number => {
      const limit = limits[index] as ReturnType<typeof tokenBucket>
      return units.of(limit, limit.algorithm.decide(limit.plan, undefined, START, 1_000_000, 0).state, 0)
    }
    const first = idOf(0)
    units.retain(first)
    units.retain(first)
    units.release(first)
    expect(idOf(1)).not.toBe(first)
    expect(idOf(0)).toBe(first)
    units.release(first)
    expect(idOf(2)).toBe(first)
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
