import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { withDividedLimit } from '../../src/stores/divided-limit.ts'
import { switchable } from '../remote-memory.ts'

describe('a local fallback withDividedLimit', () => {
  const four = tokenBucket({ rate: '1/day', burst: 8 })
  const limiterWith = (nodes: number | (() => number)) =>
    createLimiter({ limit: four, store: switchable().store, onStoreFailure: withDividedLimit(memoryStore(), nodes) })

  it('grants limit / nodes, reports the count, and follows it when it changes', async () => {
    let alive = 4
    const limiter = limiterWith(() => alive)
    const outcomes: string[] = []
    for (let index = 0; index < 3; index += 1) outcomes.push((await limiter.check('k')).outcome)
    expect(outcomes).toEqual(['allowed', 'allowed', 'denied'])
    expect(await limiter.check('k')).toMatchObject({
      source: 'fallback',
      degraded: { kind: 'timeout', nodes: 4 },
      limits: [{ remaining: 0 }],
    })
    alive = 2
    expect(await limiter.peek('fresh', { cost: 4 })).toMatchObject({ outcome: 'allowed', degraded: { nodes: 2 } })
    // The tokens that were spent under the smaller part stay spent when the part grows (law 7).
    expect((await limiter.check('k')).outcome).toBe('denied')
  })

  it('is the only one whose decisions have a count', async () => {
    expect(await limiterWith(4).check('k')).toMatchObject({ outcome: 'allowed', degraded: { kind: 'timeout', nodes: 4 } })
    const whole = createLimiter({ limit: four, store: switchable().store, onStoreFailure: 'local' })
    expect((await whole.check('k')).degraded).toEqual({ kind: 'timeout', executed: 'unknown', message: 'no answer' })
  })

  it('does not know what the part can never grant: nothing passes, and it is not impossible', async () => {
    const limiter = limiterWith(4)
    expect(await limiter.check('k', { cost: 3 })).toMatchObject({
      outcome: 'undecided',
      allowed: false,
      degraded: { kind: 'unavailable', executed: 'no', nodes: 4 },
    })
    expect(await limiter.check('k', { cost: 9 })).toMatchObject({ outcome: 'impossible', degraded: { nodes: 4 } })
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed' })
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('lets nothing pass if the count is %s, and does not report it', async (alive) => {
    const decision = await limiterWith(() => alive).check('k')
    expect(decision).toMatchObject({ outcome: 'undecided', allowed: false })
    expect(decision.degraded).not.toHaveProperty('nodes')
  })

  it.each([0, -1, 1.5, '4'])('does not report the count of another fallback that says %j', async (nodes) => {
    const onStoreFailure = Object.assign(memoryStore(), { nodes })
    const { outcome, degraded } = await createLimiter({ limit: four, store: switchable().store, onStoreFailure }).check('k')
    expect(outcome).toBe('allowed')
    expect(degraded).not.toHaveProperty('nodes')
  })

  it.each([0, 1.5, Number.NaN])('refuses a fixed count of %s', (nodes) => {
    expect(() => limiterWith(nodes)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
