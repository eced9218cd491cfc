import { describe, expect, it } from 'vitest'
import { createLimiter, memoryStore, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'
import { failingStore } from '../remote-memory.ts'

const limit = tokenBucket({ rate: '10/s', burst: 20 })

describe('X7: the instant that a decision reports', () => {
  it('is that of the store, where the clock of this process says another', async () => {
    const limiter = createLimiter({ limit, clock: manualClock(), store: memoryStore({ clock: manualClock(1_600_000_000_000_000) }) })
    expect(await limiter.check('k')).toMatchObject({ at: 1_600_000_000_000, atMicros: 1_600_000_000_000_000 })
  })

  it.each([0, 1])('is that of a store whose time is %i microseconds after 1970', async (start) => {
    const limiter = createLimiter({ limit, clock: manualClock(), store: memoryStore({ clock: manualClock(start) }) })
    expect(await limiter.check('k')).toMatchObject({ at: 0, atMicros: start })
  })

  it('is a millisecond that has begun, never one to come', async () => {
    const limiter = createLimiter({ limit, clock: manualClock(1_700_000_000_000_999) })
    expect(await limiter.check('k')).toMatchObject({ at: 1_700_000_000_000, atMicros: 1_700_000_000_000_999 })
  })

  it('is that of this process, where no store decided', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit, clock, store: failingStore(), onStoreFailure: 'deny' })
    clock.advance(1_500)
    const instant = { at: 1_700_000_001_500, atMicros: 1_700_000_001_500_000 }
    expect(await limiter.check('k')).toMatchObject({ outcome: 'undecided', ...instant })
    expect(await limiter.peek('k')).toMatchObject({ outcome: 'undecided', ...instant })
  })
})
