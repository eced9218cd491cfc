import { perSecondOf, type Quota } from './contestant.ts'

/** A bucket as the hash stores it: tokens, with fractions, and the client's time (ms) at which it had this many. */
export interface Level {
  readonly tokens: number
  readonly at: number
}

/** The bucket after one request of cost 1. It is computed in the client, from fields that may have changed on the server since. */
export function draw(fields: readonly (string | null)[], now: number, quota: Quota): Level & { readonly granted: boolean } {
  const [tokens, at] = fields
  const { burst } = quota
  const before: Level = typeof tokens === 'string' && typeof at === 'string' ? { tokens: +tokens, at: +at } : { tokens: burst, at: now }
  const gained = (perSecondOf(quota) * Math.max(0, now - before.at)) / 1_000
  const held = Math.min(burst, before.tokens + gained)
  const granted = held >= 1
  return { granted, tokens: granted ? held - 1 : held, at: Math.max(now, before.at) }
}
