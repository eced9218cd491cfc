import { expect } from 'vitest'
import { createLimiter, type Limiter, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

/** The key of every request. */
export const key = (): string => 'k'

/** A limiter with ten tokens for each key. While its clock stands still, no token is refilled. */
export function tenTokens(clock = manualClock()): Limiter {
  return createLimiter({ limit: tokenBucket({ rate: '1/day', burst: 10 }), clock })
}

/** The tokens that are left after all settlements so far have finished. */
export async function left(limiter: Limiter): Promise<number | undefined> {
  await new Promise((resolve) => setImmediate(resolve))
  return (await limiter.peek('k')).limits[0]?.remaining
}

/** Resolves when so many tokens are left. */
export async function soon(limiter: Limiter, remaining: number): Promise<void> {
  await expect.poll(() => left(limiter), { interval: 2 }).toBe(remaining)
}
