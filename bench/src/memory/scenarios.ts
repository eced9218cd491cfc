import type { Quota } from '../contestants/contestant.ts'
import type { Depth } from '../result/suite-result.ts'
import { DENIED } from '../profiles.ts'

/** A load on limiters in this process. */
export interface Scenario {
  readonly name: string
  readonly title: string
  readonly keys: Readonly<Record<Depth, number>>
  /** Whether only a full run measures it. */
  readonly fullOnly?: true
  readonly quotas: readonly Quota[]
  /** What every answer must be. `mixed`: each request of a tape (recorded requests) has its own right answer. */
  readonly answer: 'allowed' | 'denied' | 'mixed'
  /** Whether a tenth of the requests of a tape costs 5. */
  readonly costs?: true
  readonly notes?: readonly string[]
}

/**
 * A burst of more requests than any run makes. It is refilled within a day, more slowly than a run uses the tokens of a hot key, so no
 * state expires during the run.
 */
const PLENTY: Quota = { tokens: 1e9, per: '1d', burst: 1e9 }

/**
 * For each key, a burst of more requests than a run makes. It is refilled within 20 days, so a token takes minutes. More than 24 days are
 * not possible, because timers of Node and of the other libraries cannot be longer.
 */
export const MANY_KEYS: Quota = { tokens: 250, per: '1d', burst: 5_000 }

/** The tokens of a key under the mixed load. With so many, an exact limiter denies a tenth of the recorded requests. */
const MIXED_LIMIT = 81

const perDay = (limit: number): Quota => ({ tokens: limit, per: '1d', burst: limit })

export const SCENARIOS: readonly Scenario[] = [
  { name: 'hot', title: 'one hot key', keys: { quick: 1, full: 1 }, quotas: [PLENTY], answer: 'allowed' },
  {
    name: 'thousand',
    title: '1,000 keys at random',
    keys: { quick: 1_000, full: 1_000 },
    fullOnly: true,
    quotas: [PLENTY],
    answer: 'allowed',
  },
  { name: 'million', title: 'very many keys at random', keys: { quick: 100_000, full: 1_000_000 }, quotas: [MANY_KEYS], answer: 'allowed' },
  { name: 'denied', title: 'a denied flood on one key', keys: { quick: 1, full: 1 }, fullOnly: true, quotas: [DENIED], answer: 'denied' },
  {
    name: 'mixed',
    title: 'a mixed application: three limits a request, 80 % of requests from 20 % of keys, costs 1 and 5, a tenth denied',
    keys: { quick: 1_000, full: 1_000 },
    quotas: [perDay(MIXED_LIMIT), perDay(2 * MIXED_LIMIT), perDay(4 * MIXED_LIMIT)],
    answer: 'mixed',
    costs: true,
    notes: [
      'Four libraries deny too many requests, because they also count the requests that they deny. They cannot charge several limits together or not at all either: if one limit denies a request, another limit may stay charged.',
    ],
  },
]

/** Loads of the suite `seed-002`, with a limit of 10 requests in a day. So nothing is refilled during a run. */
const ARTICLE_SCENARIOS: readonly Scenario[] = [
  {
    name: 'ten-users',
    title: '10 requests for each user, 80 % of requests from 20 % of users',
    keys: { quick: 4_000, full: 4_000 },
    quotas: [perDay(10)],
    answer: 'mixed',
  },
  { name: 'ten-flood', title: 'a user who goes on after 10 requests', keys: { quick: 1, full: 1 }, quotas: [perDay(10)], answer: 'denied' },
]

export function scenarioOf(name: string): Scenario {
  const found = [...SCENARIOS, ...ARTICLE_SCENARIOS].find((scenario) => scenario.name === name)
  if (found === undefined) throw new Error(`no scenario is called ${name}`)
  return found
}
