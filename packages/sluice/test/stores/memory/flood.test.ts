import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../../src/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { floods } from './floods.ts'
import { draws } from '../../draws.ts'

describe('a flood of a hundred times as many keys as there is room for', () => {
  floods(draws(1_200, 120), draws(1_000, 100))

  it('says what replaced the key: overflow is a reason, and the decision is degraded', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 2 }), store, clock })
    expect(await limiter.check('first')).toMatchObject({ outcome: 'allowed' })
    expect(await limiter.check('second')).toMatchObject({
      outcome: 'denied',
      reason: 'overflow',
      retryAfterMs: 1_000,
      degraded: { kind: 'memory', executed: 'no' },
    })
    clock.advance(999)
    expect(await limiter.check('first', { cost: 1.999 })).toMatchObject({ outcome: 'allowed' })
    expect(await limiter.check('second')).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    clock.advance(1)
    expect(await limiter.check('second')).toMatchObject({ outcome: 'allowed', degraded: { kind: 'memory' } })
    expect(await limiter.check('second')).toMatchObject({ outcome: 'denied', reason: 'overflow' })
  })

  it('is not prepared for by peeks: a key that was only peeked at has no tokens later', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 10 }), store, clock })
    await limiter.check('first', { cost: 10 })
    expect(await limiter.peek('second')).toMatchObject({ outcome: 'denied', reason: 'overflow', retryAfterMs: 1_000 })
    clock.advance(5_000)
    expect(await limiter.check('second')).toMatchObject({ outcome: 'denied', reason: 'overflow', retryAfterMs: 1_000 })
    clock.advance(1_000)
    expect(await limiter.peek('second')).toMatchObject({ outcome: 'allowed' })
    expect(await limiter.check('second')).toMatchObject({ outcome: 'allowed' })
  })

  it('gives a key that gets a place what its shared state left it: no second burst, nothing before its time', async () => {
    const clock = manualClock()
    const store = memoryStore({ maxKeys: 1, onFull: 'shared', clock })
    const limiter = createLimiter({ limit: tokenBucket({ rate: '1/min', burst: 10 }), store, clock })
    const take = (key: string): number => {
      let taken = 0
      while (limiter.checkSync(key).allowed) taken += 1
      return taken
    }
    await limiter.block('other', '1d')
    expect(take('key')).toBe(0)
    clock.advance(600_000)
    expect(take('key')).toBe(10)
    await limiter.unblock('other')
    expect(limiter.checkSync('key')).toMatchObject({ outcome: 'denied', reason: 'overflow', retryAfterMs: 60_000 })
    expect(await limiter.peek('key')).toMatchObject({ outcome: 'denied', reason: 'overflow' })
    clock.advance(59_999)
    expect(take('key')).toBe(0)
    clock.advance(1)
    expect(take('key')).toBe(1)
    expect(store.size).toBe(1)
    await limiter.reset('key')
    await limiter.penalize('key')
    clock.advance(59_999)
    expect(take('key')).toBe(0)
  })
})
