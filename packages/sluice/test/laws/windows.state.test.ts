import { describe, expect, it } from 'vitest'
import { slidingWindowCounter, slidingWindowLog } from '../../src/index.ts'
import { START } from './arbitraries.ts'

const SECOND = 1_000_000
const AT = START - (START % (10 * SECOND))

describe('the state of a log', () => {
  it('ends a window after a charge that is still to be applied', () => {
    const { algorithm, plan } = slidingWindowLog({ limit: 10, window: '10s' })
    const { state } = algorithm.decide(plan, undefined, START, SECOND, 0)
    expect(algorithm.expiresAt(plan, state as never)).toBe(START + 10 * SECOND)
  })
})

describe('refunds of a counter', () => {
  const { algorithm, plan } = slidingWindowCounter({ limit: 10, window: '10s' })
  const charged = (at: number, cost: number, state?: never) => algorithm.decide(plan, state, at, cost * SECOND, 0).state as never

  it('without a receipt come from this window, and then from the one before', () => {
    const both = charged(AT + 12 * SECOND, 2, charged(AT + 5 * SECOND, 4))
    const left = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0)
    expect(algorithm.codec.encodeState(left as never)).toEqual([AT + 20 * SECOND, 0, 3 * SECOND, 10 * SECOND])
  })

  it('with one come from its window alone', () => {
    const both = charged(AT + 12 * SECOND, 2, charged(AT + 5 * SECOND, 4))
    const late = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0, AT + 12 * SECOND)
    expect(algorithm.codec.encodeState(late as never)).toEqual([AT + 20 * SECOND, 0, 4 * SECOND, 10 * SECOND])
    const early = algorithm.adjust(plan, both, AT + 12 * SECOND, 3 * SECOND, 0, AT + 5 * SECOND)
    expect(algorithm.codec.encodeState(early as never)).toEqual([AT + 20 * SECOND, 2 * SECOND, SECOND, 10 * SECOND])
  })
})
