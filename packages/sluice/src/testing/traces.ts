import type { AlgorithmTag, AnyLimit } from '../algorithms/algorithm.ts'
import { checkOptions, COUNT, FLAG, type Form, requireForm } from '../errors/options.ts'
import { MICRO } from '../algorithms/decimal.ts'
import { phaseOf } from '../limiter/phase.ts'
import type { Call, CallGroup, Scope } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { ALL_TAGS, LIMITS, type TimedTag } from './limits.ts'
import { seeded } from './random.ts'

/** The groups of one store call, decided at one time. */
export interface TraceStep {
  /** Microseconds since 1970. */
  readonly now: Micros
  /** Decided in order; each is charged completely or not at all. */
  readonly groups: readonly CallGroup[]
}

/** Options of `traces`. */
export interface TraceOptions {
  /** Default: all whose tokens come back with time. */
  readonly algorithms?: readonly TimedTag[] | undefined
  /** Time of the first step. */
  readonly start?: Micros | undefined
  /** True if time must never run backwards. */
  readonly forwards?: boolean | undefined
  /** The most groups in one step; default 60. */
  readonly groups?: number | undefined
}

/**
 * Random traces with few keys. Groups have one to four limits, and may have several calls of one state. Steps may repeat one call, change a
 * key's limit, or go back in time.
 * @param seed a whole number; equal seeds give equal traces
 * @param calls about how many calls the steps have in all
 * @throws LimiterError INVALID_OPTIONS
 */
export function traces(seed: number, calls: number, options: TraceOptions = {}): Generator<TraceStep> {
  requireForm('traces', 'seed', seed, WHOLE)
  requireForm('traces', 'calls', calls, COUNT)
  checkOptions('traces', options, FORMS)
  return steps(seed, calls, options)
}

export const TAGS_FORM: Form = [
  (value) => Array.isArray(value) && value.length > 0 && value.every((tag) => ALL_TAGS.includes(tag)),
  `a list of ${ALL_TAGS.join(', ')}`,
]
const WHOLE: Form = [Number.isSafeInteger, 'a whole number']
const FORMS: Readonly<Record<string, Form>> = { algorithms: TAGS_FORM, start: WHOLE, forwards: FLAG, groups: COUNT }

function* steps(seed: number, calls: number, options: TraceOptions): Generator<TraceStep> {
  const { algorithms, start = 1_763_692_800_123_456, forwards = false, groups: most = 60 } = options
  const limits = LIMITS.filter(({ algorithm }) => algorithms === undefined || algorithms.some((tag) => tag === algorithm.tag))
  const random = seeded(seed)
  const draw = groupDrawer(limits, random, { scope: `trace:${seed}`, most, keys: 12, steady: 0.7, alike: 0.2 })
  let now = start
  for (let left = calls; left > 0;) {
    const step = jump(random)
    now += forwards ? Math.abs(step) : step
    const groups = draw(left)
    left -= groups.reduce((sum, group) => sum + group.calls.length, 0)
    yield { now, groups }
  }
}

export interface DrawOptions {
  readonly scope: string
  readonly most: number
  readonly keys: number
  /** The probability that a key keeps its last limit. */
  readonly steady: number
  /** The probability that all groups of a step are one call of the same limit and cost. */
  readonly alike: number
}

type DrawGroups = (left?: number) => CallGroup[]

export function groupDrawer(limits: readonly AnyLimit[], random: () => number, options: DrawOptions): DrawGroups {
  const { scope, most, keys, steady, alike } = options
  const pick = (count: number): number => Math.floor(random() * count)
  const scopes = scopesOf(scope)
  const last = new Map<string, AnyLimit>()
  const callOf = (): Call => {
    const drawn = limits[pick(limits.length)] as AnyLimit
    const { tag } = drawn.algorithm
    const key = `k${pick(keys)}`
    const known = last.get(tag + key)
    const limit = known !== undefined && random() < steady ? known : drawn
    last.set(tag + key, limit)
    return { id: { scope: scopes[tag], key }, limit, cost: costOf(limit, random), phase: phaseOf(limit, key) }
  }
  return (left = Infinity) => {
    const groups: CallGroup[] = []
    const wanted = 1 + pick(most)
    const repeated = random() < alike ? callOf() : undefined
    const oneKey = random() < 0.5
    for (let made = 0; groups.length < wanted && made < left; made += groups.at(-1)?.calls.length ?? 0) {
      if (repeated === undefined) groups.push({ calls: consistent(Array.from({ length: 1 + pick(4) }, callOf)) })
      else groups.push({ calls: [oneKey ? repeated : again(repeated, `k${pick(keys)}`)] })
    }
    return groups
  }
}

/** All keys of one limit share a scope. */
export function scopesOf(prefix: string): Readonly<Record<AlgorithmTag, Scope>> {
  const scopes = [...ALL_TAGS, 'cc'].map((tag) => [tag, { text: `${prefix}:${tag}:` }])
  return Object.fromEntries(scopes) as Record<AlgorithmTag, Scope>
}

function again(call: Call, key: string): Call {
  return { ...call, id: { ...call.id, key }, phase: phaseOf(call.limit, key) }
}

/** Gives all calls of one state the limit and phase of the first. */
function consistent(calls: readonly Call[]): Call[] {
  return calls.map((call) => {
    const { limit, phase } = calls.find(({ id }) => id.scope === call.id.scope && id.key === call.id.key) as Call
    return { ...call, limit, phase }
  })
}

function costOf({ capacity }: AnyLimit, random: () => number): number {
  const kind = random()
  if (kind < 0.5) return MICRO
  if (kind < 0.6) return Math.round(capacity * MICRO)
  return Math.max(1, Math.round(random() * 1.1 * capacity * (kind < 0.8 ? MICRO : MICRO / 10)))
}

function jump(random: () => number): Micros {
  const kind = random()
  if (kind < 0.15) return 0
  if (kind < 0.3) return Math.floor(random() * 4)
  if (kind < 0.8) return Math.floor(random() * 2_000_000)
  if (kind < 0.9) return -Math.floor(random() * 2_000_000)
  return Math.floor(random() * 2 * 86_400_000_000)
}
