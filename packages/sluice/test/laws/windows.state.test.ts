import { describe, expect, it } from 'vitest'
import { fixedWindow, slidingWindowCounter, slidingWindowLog } from '../../src/index.ts'
import { START } from './arbitraries.ts'

const SECOND = 1_000_000
const AT = START - (START % (10 * SECOND))

describe('the state of a log', () => {
  it('ends a window after a charge that is still to be applied', () => {
    const { algorithm, plan } = slidingWindowLog({ limit: 10, window: '10s' })
    const { state } = algorithm.decide(plan, undefined, START, SECOND, 0)
    expect(algorithm.expiresAt(plan, state as never)).toBe(START + 10 * SECOND)
    const least = algorithm.decide(plan, undefined, START, 1, 0)
    expect(algorithm.expiresAt(plan, least.state as never)).toBe(START + 10 * SECOND)
  })
})

describe('a fixed window', () => {
  const short = fixedWindow({ limit: 10, window: '1s' })
  const { algorithm, plan } = short
  const taken = (at: number, cost: number): never => algorithm.decide(plan, undefined, at, cost * SECOND, 0).state as never

  it.each(['clock', 'first', 'key'] as const)(
    'that has ended is not prolonged by a longer one, which takes it into account (align %s)',
    (align) => {
      const long = fixedWindow({ limit: 10, window: '10s', align }).plan
      const state = taken(AT, 10)
      expect(algorithm.adopt(long, state, AT + SECOND - 1, 0)).toMatchObject({ count: 10 * SECOND })
      expect(algorithm.adopt(long, state, AT + SECOND, 0)).toBe(state)
      expect(algorithm.decide(long, state, AT + SECOND, SECOND, 0).state).toMatchObject({ count: SECOND, window: 10 * SECOND, turn: 4 })
      expect(algorithm.adopt(long, state, AT + 2 * SECOND - 1, 0)).toBe(state)
      expect(algorithm.adopt(long, state, AT + 2 * SECOND, 0)).toBeUndefined()
    },
  )

  it.each([
    [1, 64, 64],
    [2, 64, 16],
    [4, 64, 16],
    [5, 64, 4],
    [16, 64, 4],
    [17, 64, 1],
    [64, 64, 1],
    [1, 1, 1],
  ])('of %d of %d tokens is remembered for a %dth of its length after its end', (count, limit, part) => {
    const window = fixedWindow({ limit, window: '1s' })
    const state = window.algorithm.decide(window.plan, undefined, AT, count * SECOND, 0).next
    expect(window.algorithm.expiresAt(window.plan, state)).toBe(AT + SECOND + SECOND / part)
  })

  it('gives back as little as a millionth of a token', () => {
    expect(algorithm.adjust(plan, taken(AT, 3), AT, 1, 0)).toMatchObject({ count: 3 * SECOND - 1 })
    expect(algorithm.adjust(plan, taken(AT, 3), AT, -1, 0)).toMatchObject({ count: 3 * SECOND + 1 })
  })

  it('that holds more than twice a lowered limit is not emptied by a penalty', () => {
    const low = fixedWindow({ limit: 3, window: '1s' }).plan
    for (const count of [6, 7, 8, 10]) {
      const state = taken(AT, count)
      expect(algorithm.adjust(low, state, AT, -SECOND, 0)).toBe(state)
    }
    expect(algorithm.adjust(low, taken(AT, 5), AT, -3 * SECOND, 0)).toMatchObject({ count: 6 * SECOND })
  })

  it('with a ramp lets one token through at its very beginning', () => {
    const ramped = fixedWindow({ limit: 10, window: '10s', ramp: '5s' }).plan
    const full = { end: AT + 10 * SECOND, count: 10 * SECOND, window: 10 * SECOND, turn: 3 }
    const denied = algorithm.decide(ramped, full, AT + 7 * SECOND, SECOND, 0)
    expect([denied.outcome, denied.retryAfter]).toEqual(['denied', 3 * SECOND])
    expect(algorithm.decide(ramped, full, AT + 10 * SECOND, SECOND, 0).outcome).toBe('allowed')
    // Two of ten are there after two tenths of the ramp.
    expect(algorithm.decide(ramped, full, AT + 7 * SECOND, 2 * SECOND, 0).retryAfter).toBe(4 * SECOND)
  })
})

describe('refunds of a counter', () => {
  const { algorithm, plan } = slidingWindowCounter({ limit: 10, window: '10s' })
  const charged = (at: number, cost: number, state?: never) => algorithm.decide(plan, state, at, cost * SECOND, 0).state as never

  it('without a receipt come from this window, and then from the one before', () => {
    const both = charged(AT + 12 * SECOND, 2, charged(AT + 5 * SECOND, 4))
    const left = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0)
    expect(algorithm.codec.encodeState(left as never)).toEqual([AT + 20 * SECOND, 0, 3 * SECOND, 10 * SECOND, 0])
  })

  it('with one come from its window alone', () => {
    const both = charged(AT + 12 * SECOND, 2, charged(AT + 5 * SECOND, 4))
    const late = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0, AT + 12 * SECOND)
    expect(algorithm.codec.encodeState(late as never)).toEqual([AT + 20 * SECOND, 0, 4 * SECOND, 10 * SECOND, 0])
    const early = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0, AT + 5 * SECOND)
    expect(algorithm.codec.encodeState(early as never)).toEqual([AT + 20 * SECOND, 2 * SECOND, SECOND, 10 * SECOND, 0])
  })
})
