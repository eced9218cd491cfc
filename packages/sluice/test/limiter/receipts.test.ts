import { describe, expect, it } from 'vitest'
import {
  type AnyLimit,
  createLimiter,
  fixedWindow,
  memoryStore,
  slidingWindowCounter,
  slidingWindowLog,
  tokenBucket,
} from '../../src/index.ts'
import { scopeOf } from '../../src/keys/encode.ts'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'

const LIMITS = {
  'first charge': fixedWindow({ limit: 10, window: '1m', align: 'first' }),
  'by key': fixedWindow({ limit: 10, window: '1m', align: 'key' }),
  'odd length': fixedWindow({ limit: 10, window: '70000777us' }),
  'odd length by key': fixedWindow({ limit: 10, window: '70000777us', align: 'key' }),
  counter: slidingWindowCounter({ limit: 10, window: '70000777us' }),
  log: slidingWindowLog({ limit: 10, window: '70000777us' }),
  bucket: tokenBucket({ rate: '7/70000777us', burst: 10 }),
} as const

/** Writes a decision as JSON and reads it again. */
function written<T>(decision: T): T {
  return JSON.parse(JSON.stringify(decision)) as T
}

describe('X3: a refund with its receipt is not lost in windows that do not begin on a whole millisecond', () => {
  it.each(Object.entries(LIMITS))('%s: all is given back', async (_, limit: AnyLimit) => {
    const random = seeded(3)
    const clock = manualClock()
    const limiter = createLimiter({ limit, clock })
    for (let index = 0; index < 200; index += 1) {
      const key = `k${index}`
      clock.shift(Math.floor(random() * 3_000_000))
      const decision = await limiter.check(key, { cost: 8 })
      clock.shift(Math.floor(random() * 900))
      if (index % 2 === 0) await limiter.check(key, { cost: 0.5 })
      // A window that ended in between has forgotten the charge already.
      await limiter.refund(key, { cost: 8, receipt: written(decision) })
      expect(await limiter.check(key, { cost: 9.4 })).toMatchObject({ outcome: 'allowed' })
    }
  })

  it.each(Object.entries(LIMITS).slice(0, 5))(
    '%s: all is given back of a charge in the first microsecond of a window',
    async (_, limit: AnyLimit) => {
      const clock = manualClock(1_700_000_000_000_123)
      const store = memoryStore({ clock })
      const limiter = createLimiter({ limit, store, clock })
      await limiter.check('k')
      const [end = 0] = store.stateOf({ scope: scopeOf('default', 'default', limit.algorithm.tag), key: 'k' }) as readonly number[]
      expect(end % 1_000).not.toBe(0)
      clock.shift(end - clock.now())
      const decision = await limiter.check('k', { cost: 8 })
      await limiter.refund('k', { cost: 8, receipt: written(decision) })
      expect(await limiter.check('k', { cost: 9 })).toMatchObject({ outcome: 'allowed' })
    },
  )

  it.each(Object.entries(LIMITS))('%s: on the system clock', async (_, limit: AnyLimit) => {
    const limiter = createLimiter({ limit })
    for (let index = 0; index < 50; index += 1) {
      const decision = limiter.checkSync(`k${index}`, { cost: 8 })
      await limiter.refund(`k${index}`, { cost: 8, receipt: decision })
      expect(limiter.checkSync(`k${index}`, { cost: 9 })).toMatchObject({ outcome: 'allowed' })
    }
  })

  it.each(['clock', 'first', 'key'] as const)('nothing is given back to a later window, be it a microsecond later (%s)', async (align) => {
    const clock = manualClock(1_700_000_000_000_123)
    const store = memoryStore({ clock })
    const limiter = createLimiter({ limit: fixedWindow({ limit: 10, window: '70000777us', align }), store, clock })
    const decision = await limiter.check('k', { cost: 8 })
    const [end = 0] = store.stateOf({ scope: scopeOf('default', 'default', 'fw'), key: 'k' }) as readonly number[]
    clock.shift(end - clock.now())
    await limiter.check('k', { cost: 10 })
    await limiter.refund('k', { cost: 8, receipt: decision })
    expect(limiter.checkSync('k', { cost: 0.000001 }).outcome).toBe('denied')
  })

  it('what is no decision is refused by name, and nothing happens', async () => {
    const limiter = createLimiter({ limit: LIMITS['first charge'] })
    await limiter.check('k', { cost: 8 })
    for (const receipt of [{ at: 5 }, { atMicros: Number.NaN }, { atMicros: '5' }, null])
      await expect(limiter.refund('k', { receipt: receipt as never })).rejects.toMatchObject({
        code: 'INVALID_OPTIONS',
        message: expect.stringContaining('receipt.atMicros'),
      })
    expect(limiter.checkSync('k', { cost: 2 })).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 0 }] })
  })
})
