import { type AnyLimit, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from 'sluice'
import { type Quota, windowOf } from './contestant.ts'

export type Algorithm = 'token-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log'

/** A quota as the limit of an algorithm. Windows admit `burst` tokens in the time in which a bucket refills its whole burst. */
export function limitUnder(algorithm: Algorithm, quota: Quota): AnyLimit {
  const { tokens, per, burst } = quota
  if (algorithm === 'token-bucket') return tokenBucket({ rate: { tokens, per }, burst })
  const window = { limit: burst, window: `${Math.round(windowOf(quota) * 1_000)}ms` }
  if (algorithm === 'fixed-window') return fixedWindow(window)
  return algorithm === 'sliding-window-log' ? slidingWindowLog(window) : slidingWindowCounter(window)
}
