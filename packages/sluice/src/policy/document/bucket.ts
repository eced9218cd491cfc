import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import type { ErrorCode } from '../../errors/limiter-error.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import type { PolicyNode } from './node.ts'
import type { Issues } from './issues.ts'

/** A value of the policy and its path. */
export interface Placed {
  readonly node: PolicyNode
  readonly path: string
}

export const RATE_FORM = 'tokens per duration, such as 10/s'

/**
 * Compiles a token bucket from exact texts. It reports an error at the value that causes it.
 * @param burst a validated decimal text
 */
export function readBucket(
  rate: Rate,
  burst: string,
  at: { readonly rate: Placed; readonly burst: Placed },
  issues: Issues,
): AnyLimit | undefined {
  try {
    return tokenBucket({ rate, burst })
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error
    report(error.code, error.message, at, issues)
    return undefined
  }
}

function report(
  code: ErrorCode,
  message: string,
  { rate, burst }: { readonly rate: Placed; readonly burst: Placed },
  issues: Issues,
): void {
  if (code === 'INVALID_RATE') issues.wrong(rate.node, rate.path, RATE_FORM)
  else issues.add(burst.node.at, burst.path, `${burst.path}: ${message}`)
}
