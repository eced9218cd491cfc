import type { AnyLimit } from '../algorithms/algorithm.ts'
import { finalPath } from '../identity/path-readings.ts'
import type { Request } from '../identity/request.ts'
import type { Source } from '../identity/source.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import type { Exemption } from './exemption.ts'
import { type Glob, pathSegments } from './glob.ts'
import { finish, type Sliced } from './sliced.ts'

/** What a group becomes when the store cannot answer. */
export type OnStoreFailure = 'allow' | 'deny' | 'local'

/** `shadow` decides and tells, and stops nobody; `off` does nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

/** One compiled rule: which requests, counted by what, against which limit, at which cost. */
export interface Rule {
  readonly name: string
  readonly mode: Mode
  readonly match: Match
  /** Requests that this rule leaves alone. */
  readonly exempt?: readonly Exemption[]
  /** Several parts are one key of several values; none is one bucket for everybody. */
  readonly key: readonly KeyPart[]
  /** The first whose conditions hold gives the limit; where none does, the rule does not apply. */
  readonly tiers: readonly Tier[]
  readonly cost: Cost
  /** One request in so many is charged so many times its cost, the others nothing; absent: every request. */
  readonly sample?: number
  readonly onStoreFailure: OnStoreFailure
  /** Tokens that the rule may admit above its limit at most; Infinity: any number; absent: not asked. */
  readonly maxOvergrant?: number
}

/** What a request must look like; what is absent is not asked. */
export interface Match {
  readonly path?: Glob
  readonly methods?: ReadonlySet<string>
  readonly hosts?: readonly Glob[]
  readonly when: readonly Condition[]
}

/** What a request must say for a rule or a tier to hold. */
export interface Condition {
  readonly source: Source
  /** As a person reads it. */
  readonly value: string
  /** Instead of being equal to `value`. */
  accepts?(value: string): boolean
  /** Instead of asking the source. */
  test?(request: Request): Truth
}

/** Whether something is true of a request; undefined where one upstream would read it so and another not. */
export type Truth = boolean | undefined

/**
 * Sources of which the first that has a value counts; each has its own place in the key, so that a subject and an address of the same
 * text stay apart. All requests for which none has a value share one bucket.
 */
export type KeyPart = readonly Source[]

export interface Tier {
  /** Tells the states of one rule's tiers apart; empty for the tier without conditions. */
  readonly label: string
  readonly when: readonly Condition[]
  readonly limit: AnyLimit
  /** The period the policy states, instead of the time the bucket takes to fill. */
  readonly windowMs?: number
}

export interface Cost {
  readonly text: string
  of(request: Request): number
  /** What a request costs of which nothing is known. */
  readonly unknown: number
  /** No request costs more. */
  readonly most?: number
}

/** The first tier whose conditions hold; where several may be the first, the strictest of these. */
export function tierOf(rule: Rule, request: Request): Tier | undefined {
  let possible: Tier | undefined
  for (const tier of (tierIndexes.get(rule.tiers) ?? finish(indexTiers(rule)))(request)) {
    const truth = allHold(tier.when, request)
    if (truth === false) continue
    possible = possible === undefined ? tier : stricter(possible, tier)
    if (truth === true) break
  }
  return possible
}

const tierIndexes = new WeakMap<readonly Tier[], FindByCondition<Tier>>()

/** Makes `tierOf` find the tiers of a rule without trying each; it is done at the first request otherwise. */
export function* indexTiers({ tiers }: Rule): Sliced<FindByCondition<Tier>> {
  const find = yield* indexByCondition(tiers, ({ when }) => when)
  tierIndexes.set(tiers, find)
  return find
}

/** By the rate in the long run, then by what can pass at once. */
function stricter(one: Tier, other: Tier): Tier {
  const [a, b] = [rateOf(one.limit), rateOf(other.limit)]
  if (a !== b) return a < b ? one : other
  return one.limit.capacity <= other.limit.capacity ? one : other
}

function rateOf({ algorithm, plan }: AnyLimit): number {
  const { n, m } = algorithm.envelope(plan)
  return n / m
}

/** The values of a rule's key, absent ones as undefined. Of a path that can be read in several ways, the readings count that the rule matches. */
export function keyOf(rule: Rule, request: Request): (string | undefined)[] {
  const { path } = rule.match
  const seen =
    path === undefined || request.readings === undefined
      ? request
      : { ...request, path: finalPath(request, (reading) => path.matches(pathSegments(reading.path))) }
  return rule.key.flatMap((sources) => {
    const values = sources.map((source) => source.read(seen))
    const first = values.findIndex((value) => value !== undefined)
    return values.map((value, index) => (index === first ? value : undefined))
  })
}

/** Whether a condition holds. It is not known where an upstream may take one value or another, and only some of these will do. */
export function truthOf(condition: Condition, request: Request): Truth {
  const { source, value } = condition
  if (condition.test !== undefined) return condition.test(request)
  const accepts = (found: string | undefined): boolean =>
    found !== undefined && (condition.accepts === undefined ? found === value : condition.accepts(found))
  const several = source.alternatives?.(request)
  if (several === undefined) return accepts(source.read(request))
  if (!several.some(accepts)) return false
  // What stands twice is never sure, even where both say the same: the upstream may refuse it, or read neither.
  return accepts(source.read(request)) && several.every(accepts) ? true : undefined
}

/** Whether all of them hold: false where one does not, whatever is known of the others. */
export function allHold(conditions: readonly Condition[], request: Request): Truth {
  let all: Truth = true
  for (const condition of conditions) {
    const truth = truthOf(condition, request)
    if (truth === false) return false
    if (truth === undefined) all = undefined
  }
  return all
}
