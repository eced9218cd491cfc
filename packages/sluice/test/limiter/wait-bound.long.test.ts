import { expect, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

it('wait refuses callers beyond a bound', async () => {
  const clock = manualClock()
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1000000/s', burst: 1 }), clock })
  // The first one does not wait.
  const all = Array.from({ length: 100_001 }, () => limiter.wait('k'))
  await expect(limiter.wait('k')).rejects.toMatchObject({ code: 'OVERLOAD' })
  clock.advance(1_000)
  expect((await Promise.all(all)).every(({ allowed }) => allowed)).toBe(true)
})
