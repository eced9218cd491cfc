import { perSecondOf, type Quota } from './contestant.ts'

/** A bucket as it is in the hash: tokens, fractions included, and the client's time (ms) at which there were so many. */
export interface Level {
  readonly tokens: number
  readonly at: number
}

/** What one request of cost 1 makes of the stored fields: computed here, far from the server, on numbers that may be old. */
export function draw(fields: readonly (string | null)[], now: number, quota: Quota): Level & { readonly granted: boolean } {
  const [tokens, at] = fields
  const { burst } = quota
  const before: Level = typeof tokens === 'string' && typeof at === 'string' ? { tokens: +tokens, at: +at } : { tokens: burst, at: now }
  const gained = (perSecondOf(quota) * Math.max(0, now - before.at)) / 1_000
  const held = Math.min(burst, before.tokens + gained)
  const granted = held >= 1
  return { granted, tokens: granted ? held - 1 : held, at: Math.max(now, before.at) }
}
