import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Request } from '../identity/request.ts'
import type { Source } from '../identity/source.ts'
import type { Exemption } from './exemption.ts'
import type { Glob } from './glob.ts'

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
  test?(request: Request): boolean
}

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

/** The first tier whose conditions hold. */
export function tierOf(rule: Rule, request: Request): Tier | undefined {
  return rule.tiers.find((tier) => tier.when.every((condition) => holds(condition, request)))
}

/** The values of a rule's key, absent ones as undefined. */
export function keyOf(rule: Rule, request: Request): (string | undefined)[] {
  return rule.key.flatMap((sources) => {
    const values = sources.map((source) => source.read(request))
    const first = values.findIndex((value) => value !== undefined)
    return values.map((value, index) => (index === first ? value : undefined))
  })
}

export function holds(condition: Condition, request: Request): boolean {
  return condition.test === undefined ? condition.source.read(request) === condition.value : condition.test(request)
}
