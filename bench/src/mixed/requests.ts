import { xorshift32 } from '../random-order.ts'
import type { Quota } from '../contestants/contestant.ts'

/**
 * An application with three limits for each request: one for all, one for the tenant, one for the user. A fifth of the users makes four
 * fifths of the requests. Every tenth request is that of a user of the free plan, whose only token of the day is spent.
 */
export const MIXED = { users: 10_000, tenants: 20, spent: 100, deniedShare: 0.1 } as const

/** A limit that no request reaches. All limits are this one, except that of users of the free plan. */
export const WIDE: Quota = { tokens: 300, per: '1d', burst: 10_000_000 }
export const FREE: Quota = { tokens: 1, per: '1d', burst: 1 }

export interface MixedRequest {
  readonly tenant: string
  readonly user: string
  readonly plan: 'paid' | 'free'
  /** Whether it may pass, once the tokens of the free users are spent. */
  readonly allowed: boolean
}

const DRAWS = 16_384
const SEED = 0x5bd1_e995
/** A fifth of the users makes four fifths of the requests. */
const FEW = 0.2
const OFTEN = 0.8

/** Draws the requests of the load before the measurement. They are the same for every limiter, and are repeated in the same order. */
export function mixedRequests(): readonly MixedRequest[] {
  const draw = xorshift32(SEED)
  const below = (bound: number): number => draw() % bound
  const few = MIXED.users * FEW
  return Array.from({ length: DRAWS }, (_, index): MixedRequest => {
    const tenant = `tenant-${below(MIXED.tenants)}`
    if (index % (1 / MIXED.deniedShare) === 0) return { tenant, user: `free-${below(MIXED.spent)}`, plan: 'free', allowed: false }
    const user = below(100) < OFTEN * 100 ? below(few) : few + below(MIXED.users - few)
    return { tenant, user: `user-${10_000 + user}`, plan: 'paid', allowed: true }
  })
}

/** Decides a request under all of its limits. Rejects if that was not possible. */
export type DecideMixed = (request: MixedRequest) => Promise<boolean>

/** A check of one limit, by its name and key. */
export type CheckLimit = (key: string) => Promise<boolean>

/** The limits as three checks at once, for limiters that check one limit with each call: the request passes if all of them allow it. */
export function threeChecks(wide: CheckLimit, free: CheckLimit): DecideMixed {
  return async ({ tenant, user, plan }) => {
    const answers = await Promise.all([wide('global'), wide(tenant), plan === 'free' ? free(user) : wide(user)])
    return answers.every((allowed) => allowed)
  }
}

/** Spends the tokens of the free users, and makes a function whose answer is whether the next request was decided rightly. */
export async function mixedLoad(decide: DecideMixed): Promise<() => Promise<boolean>> {
  const requests = mixedRequests()
  const spent = new Map(requests.filter(({ plan }) => plan === 'free').map((request) => [request.user, request]))
  for (const request of spent.values()) await untilDecided(decide, request)
  let next = 0
  return async () => {
    next = next + 1 === requests.length ? 0 : next + 1
    const request = requests[next] as MixedRequest
    return (await decide(request)) === request.allowed
  }
}

const MAX_TRIES = 100

/** A first request may miss its deadline, and is then made again. */
async function untilDecided(decide: DecideMixed, request: MixedRequest): Promise<void> {
  for (let tries = 1; tries < MAX_TRIES; tries += 1) {
    try {
      return void (await decide(request))
    } catch {
      // The request was undecided, so it is not known whether it was charged. It is made again.
    }
  }
  await decide(request)
}
