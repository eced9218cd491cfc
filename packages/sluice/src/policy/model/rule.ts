import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { finalPath } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import type { Source } from '../../identity/source.ts'
import { type FindByCondition, indexByCondition } from './condition-index.ts'
import type { Exemption } from './exemption.ts'
import type { Micros } from '../../time/micros.ts'
import { type Glob, pathSegments } from './glob.ts'
import { finish, type Sliced } from './sliced.ts'

/** What happens to requests if the store cannot answer. */
export type OnStoreFailure = 'allow' | 'deny' | 'local'

/** `shadow` decides and reports, but never denies; `off` does nothing. */
export type Mode = 'enforce' | 'shadow' | 'off'

/** A compiled rule of a policy. */
export interface Rule {
  /** Unique in the policy. Appears in headers, metrics and state ids. */
  readonly name: string
  /** Whether the rule denies, only reports, or does nothing. */
  readonly mode: Mode
  /** The requests that the rule applies to. */
  readonly match: Match
  /** Requests that this rule does not limit. */
  readonly exempt?: readonly Exemption[]
  /** Parts of the key; empty: all requests share one bucket. */
  readonly key: readonly KeyPart[]
  /** The limits; the first whose conditions hold applies, else none. */
  readonly tiers: readonly Tier[]
  /** The tokens that a request takes. */
  readonly cost: Cost
  /** One request in `sample` is charged `sample` times its cost; absent: every request. */
  readonly sample?: number
  /** What happens to requests of this rule while the store fails. */
  readonly onStoreFailure: OnStoreFailure
  /** The policy is refused if the rule may admit more tokens than this above its limit. */
  readonly maxOvergrant?: number
}

/** Conditions on a request. Omitted fields match every request. */
export interface Match {
  readonly path?: Glob
  readonly methods?: ReadonlySet<string>
  readonly hosts?: readonly Glob[]
  readonly when: readonly Condition[]
}

export interface Condition {
  readonly source: Source
  /** Required value; with `accepts` or `test` only used in messages. */
  readonly value: string
  /** Tests the value of the source. Replaces the comparison with `value`. */
  accepts?(value: string): boolean
  /** Tests the request. Replaces reading the source. */
  test?(request: Request): Truth
}

/** Undefined if upstreams may read the request differently. */
export type Truth = boolean | undefined

/** The first source with a value counts. Each source has its own position in the key, so equal texts of two sources are different keys. */
export type KeyPart = readonly Source[]

/** One of the limits of a rule. */
export interface Tier {
  /** Part of the state ids, which separates tiers; empty for the tier without conditions. */
  readonly label: string
  /** Must all hold; empty: the tier is for every request. */
  readonly when: readonly Condition[]
  /** The limit of the tier. */
  readonly limit: AnyLimit
  /** The stated period; reported instead of the bucket's time to fill. */
  readonly windowMs?: number
}

export interface Cost {
  readonly text: string
  of(request: Request): number
  /** If the facts of the request are not known. */
  readonly unknown: number
  readonly most?: number
}

/** Replaces every tier's limit for one key of a rule. */
export interface Override {
  /** Name of the rule. */
  readonly rule: string
  /** Values of the rule's key in order; undefined for absent ones. */
  readonly values: readonly (string | undefined)[]
  /** The limit of this key, in every tier. */
  readonly limit: AnyLimit
  /** The first instant without the override, in microseconds since 1970; absent: it has no end. */
  readonly until?: Micros
}

export const DEFAULT_DEADLINE = { deadlineMs: 50, defaultDeadline: true } as const

/** The settings of a policy for a store that cannot answer. */
export interface FailureChoice {
  /** Milliseconds a remote store may take. */
  readonly deadlineMs: number
  /** Set if the policy states no deadline: the first calls may then take longer. */
  readonly defaultDeadline?: true
  /** The failure policy of rules without their own `onStoreFailure`. */
  readonly policy: OnStoreFailure
  /** The most processes that share the store, for `boundOf`. */
  readonly processes?: number
  /** The longest outage in milliseconds, for `boundOf`. */
  readonly outageMs?: number
  /** The options of the breaker; absent: its defaults. */
  readonly breaker?: BreakerChoice
}

/** When to stop calling a failing store. Absent fields have the breaker's defaults. */
export interface BreakerChoice {
  /** The number of failures within `windowMs` milliseconds that opens the breaker. */
  readonly failures?: number
  /** Milliseconds over which failures are counted. */
  readonly windowMs?: number
  /** Milliseconds between probes. */
  readonly probeMs?: number
}

export type KeyValues = Override['values']

/** If it is not certain which tier is the first whose conditions hold, the strictest tier that may be. */
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

/** Without this call, `tierOf` makes the index at the first request. */
export function* indexTiers({ tiers }: Rule): Sliced<FindByCondition<Tier>> {
  const find = yield* indexByCondition(tiers, ({ when }) => when)
  tierIndexes.set(tiers, find)
  return find
}

/** The lower long-term rate is stricter, then the smaller capacity. */
function stricter(one: Tier, other: Tier): Tier {
  const [a, b] = [rateOf(one.limit), rateOf(other.limit)]
  if (a !== b) return a < b ? one : other
  return one.limit.capacity <= other.limit.capacity ? one : other
}

function rateOf({ algorithm, plan }: AnyLimit): number {
  const { n, m } = algorithm.envelope(plan)
  return n / m
}

/** If upstreams may read the path in several ways, the key comes from those in which the rule matches. */
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

/** Undefined if upstreams may read different values and only some of them satisfy the condition. */
export function truthOf(condition: Condition, request: Request): Truth {
  const { source, value } = condition
  if (condition.test !== undefined) return condition.test(request)
  const accepts = (found: string | undefined): boolean =>
    found !== undefined && (condition.accepts === undefined ? found === value : condition.accepts(found))
  const several = source.alternatives?.(request)
  if (several === undefined) return accepts(source.read(request))
  if (!several.some(accepts)) return false
  // Undefined also for two equal values of a header or parameter (`read` returns AMBIGUOUS): the upstream may refuse or ignore both.
  return accepts(source.read(request)) && several.every(accepts) ? true : undefined
}

/** False if one does not hold, even if others are unknown. */
export function allHold(conditions: readonly Condition[], request: Request): Truth {
  let all: Truth = true
  for (const condition of conditions) {
    const truth = truthOf(condition, request)
    if (truth === false) return false
    if (truth === undefined) all = undefined
  }
  return all
}

/** Why a rule cannot have this `sample`; undefined if it can. */
export function sampleProblem(sample = 1, { most = Infinity }: Cost, tiers: readonly Tier[]): string | undefined {
  const least = Math.min(...tiers.map(({ limit }) => limit.capacity))
  if (sample !== 1 && tiers.some(({ limit }) => limit.algorithm.holding !== undefined))
    return 'a concurrency limit counts every request, because each one gives back its own slot'
  if (sample === 1 || most * sample <= least) return undefined
  return `one request in ${sample} is charged ${sample} times up to ${most}, above the capacity ${least} of this rule: it could never pass`
}
