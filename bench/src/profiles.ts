import { type CompiledLimit, tokenBucket } from 'sluice'
import { PlainBuckets } from './baselines/plain-buckets.ts'

/** A load and its limit, which is the same for Sluice and for the baselines. */
export interface Profile {
  readonly name: string
  readonly burst: number
  readonly tokens: number
  readonly per: '1s' | '1d'
  /** The outcome that every answer must have. */
  readonly answer: 'allowed' | 'denied'
}

/** No request is denied, however long the run is. */
export const ALLOWED: Profile = { name: 'all allowed, burst 10^7', burst: 10_000_000, tokens: 1_000_000, per: '1s', answer: 'allowed' }
/** As `ALLOWED`, for many keys. The refill is so slow that a state that was charged once does not expire during the run. */
export const ALLOWED_KEYS: Profile = { ...ALLOWED, tokens: 300, per: '1d' }
/** The only token is spent before the measurement, and the next comes a day later. */
export const DENIED: Profile = { name: 'denied flood', burst: 1, tokens: 1, per: '1d', answer: 'denied' }

export function limitOf({ burst, tokens, per }: Profile): CompiledLimit {
  return tokenBucket({ rate: { tokens, per }, burst })
}

export function perSecondOf({ tokens, per }: Profile): number {
  return per === '1s' ? tokens : tokens / 86_400
}

export function plainOf(profile: Profile): PlainBuckets {
  return new PlainBuckets(perSecondOf(profile), profile.burst)
}

/** The number of answers with another outcome than that of the profile. */
export function wrongAnswersOf({ answer }: Profile, { calls, allowed }: { readonly calls: number; readonly allowed: number }): number {
  return answer === 'allowed' ? calls - allowed : allowed
}
