import { type CompiledLimit, tokenBucket } from 'sluice'
import { PlainBuckets } from '../baselines/plain-buckets.ts'

/** One load: the limit, the same for Sluice and for the baselines. */
export interface Profile {
  readonly name: string
  readonly burst: number
  readonly tokens: number
  readonly per: '1s' | '1d'
  /** What every answer must be. */
  readonly answer: 'allowed' | 'denied'
}

/** Nobody is refused, however long the run. */
export const ALLOWED: Profile = { name: 'all allowed, burst 10^7', burst: 10_000_000, tokens: 1_000_000, per: '1s', answer: 'allowed' }
/** The same for many keys, so slow that a state which was charged once stays one for the whole run. */
export const ALLOWED_KEYS: Profile = { ...ALLOWED, tokens: 300, per: '1d' }
/** The one token is spent before anything is measured; the next comes tomorrow. */
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

/** Answers that the profile does not allow for. */
export function wrongAnswersOf({ answer }: Profile, { calls, allowed }: { readonly calls: number; readonly allowed: number }): number {
  return answer === 'allowed' ? calls - allowed : allowed
}
