import { createLimiter, memoryStore } from 'sluice'
import { BareTable } from '../baselines/bare-table.ts'
import { limitOf, perSecondOf, plainOf, type Profile } from '../profiles.ts'

/** Decides a call for one key in the table behind it. */
export type Check = (key: string) => boolean

/**
 * What holds the keys. `lookup`: a Map from key to a number that is only read once it is filled. No Map can hold these keys with less
 * memory.
 */
export type Holder = 'sluice' | 'map' | 'bare' | 'lookup'

/**
 * Keys of one length, as flat texts, like those that a header parser makes. They are made once, and the caller keeps them.
 *
 * @param first how many keys of the series come before them
 */
export function keysOf(count: number, first: number = 0): string[] {
  // Made through a buffer, as in a parser. A concatenated text would stay in parts until it is first read.
  return Array.from({ length: count }, (_, index) => Buffer.from(`user:${10_000_000 + first + index}`, 'latin1').toString('latin1'))
}

/** Makes an empty table for `count` keys under the limit of the profile. */
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
        // Makes an answer object as the other holders do, because the collection of these objects is part of the floor.
        return { allowed: found !== undefined || now >= 0, remaining: now, retryAfterMs: 0 }.allowed
      }
    }
  }
}
