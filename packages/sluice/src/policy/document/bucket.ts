import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import type { Value } from './value.ts'

export const RATE_FORM = 'tokens per duration, such as 10/s'

/** An error is reported at the value that causes it. @param burst a validated decimal text */
export function readBucket(rate: Rate, burst: string, at: { readonly rate: Value; readonly burst: Value }): AnyLimit | undefined {
  const limit = attempt(() => tokenBucket({ rate, burst }))
  if (!(limit instanceof LimiterError)) return limit
  return limit.code === 'INVALID_RATE' ? at.rate.wrong(RATE_FORM) : at.burst.refuse(`: ${limit.message}`)
}
