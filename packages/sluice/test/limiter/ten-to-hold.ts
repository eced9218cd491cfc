import { createLimiter, type LimiterOptions, type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import { manualClock } from '../../src/time/manual.ts'

export const MINUTE = 60_000

/** A limiter on a clock of its own, with a bucket of ten tokens that refills one token an hour. */
export function ten(options: Partial<LimiterOptions> = {}) {
  const clock = manualClock()
  const limiter = createLimiter({
    ...(options.limits === undefined ? { limit: tokenBucket({ rate: '1/h', burst: 10 }) } : {}),
    clock,
    ...options,
  })
  const remaining = async (key = 'k'): Promise<(number | undefined)[]> => {
    const { limits } = await limiter.peek(key)
    return limits.map((limit) => limit.remaining)
  }
  return { clock, limiter, remaining }
}

/** A store that fails on command, before or after it has executed the call. */
export function failing(inner: Store, executed: 'no' | 'unknown') {
  let left = 0
  const wrap =
    <A extends readonly unknown[], R>(call: (...all: A) => Promise<R>) =>
    async (...all: A): Promise<R> => {
      if (left === 0) return call(...all)
      left -= 1
      if (executed === 'unknown') await call(...all)
      throw new StoreFailure('timeout', executed, 'lost')
    }
  const { decideNow: _, ...rest } = inner
  const store: Store = {
    ...rest,
    capabilities: { ...inner.capabilities, sync: false },
    decide: wrap(inner.decide),
    change: wrap(inner.change),
  }
  return {
    store,
    fail: (times: number) => {
      left = times
    },
  }
}
