import { createLimiter, memoryStore } from 'sluice'
import { BareTable } from '../baselines/bare-table.ts'
import { limitOf, perSecondOf, plainOf, type Profile } from './profiles.ts'

/** Decides about one key; what holds the states is behind it. */
export type Check = (key: string) => boolean

/** `lookup`: a Map from key to a number that is only read, once it is filled; no Map can hold these keys with less. */
export type Holder = 'sluice' | 'map' | 'bare' | 'lookup'

/** Flat texts of one length, as they come out of a header; made once and held by the caller. */
export function keysOf(count: number): string[] {
  // Through a buffer, as a parser makes them: a text that was put together stays in parts until somebody reads it.
  return Array.from({ length: count }, (_, index) => Buffer.from(`user:${10_000_000 + index}`, 'latin1').toString('latin1'))
}

/** Something that holds `count` keys under the profile's limit, empty at first. */
export function holderOf(holder: Holder, profile: Profile, count: number): Check {
  switch (holder) {
    case 'sluice': {
      const limiter = createLimiter({ name: 'keys', limit: limitOf(profile), store: memoryStore({ maxKeys: count }) })
      return (key) => limiter.checkSync(key).allowed
    }
    case 'map': {
      const buckets = plainOf(profile)
      return (key) => buckets.check(key).allowed
    }
    case 'bare': {
      const table = new BareTable(count, perSecondOf(profile), profile.burst)
      return (key) => table.check(key).allowed
    }
    case 'lookup': {
      const seen = new Map<string, number>()
      return (key) => {
        const now = performance.now()
        const found = seen.get(key)
        if (found === undefined) seen.set(key, 1)
        // An answer as the others give one: what collecting those costs is part of the floor.
        return { allowed: found !== undefined || now >= 0, remaining: now, retryAfterMs: 0 }.allowed
      }
    }
  }
}
