import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { bareProblem } from '../time/duration.ts'
import { createIssues } from './document/issues.ts'
import { readOverride } from './native/override.ts'
import { type Field, type PolicyNode, Value } from './document/value.ts'
import type { Override, Rule } from './model/rule.ts'
import { PolicyError } from './document/policy-error.ts'

/** The fields of an override, as in a policy file. */
export interface OverrideFields {
  /** Name of the rule. */
  readonly rule: string
  /** The key's value, or a list of values; null for absent ones. */
  readonly key: string | number | readonly (string | number | null)[]
  /** `token-bucket` (default), `fixed-window`, `sliding-window-counter`, `sliding-window-log` or `concurrency`. */
  readonly algorithm?: string | undefined
  /** For a token bucket: tokens per duration, such as `10/s`. */
  readonly rate?: string | undefined
  /** For a token bucket: the most tokens it holds. */
  readonly burst?: number | string | undefined
  /** The most tokens in a window, or the most requests at once. */
  readonly limit?: number | string | undefined
  /** For a window: its length, such as `1m`. */
  readonly window?: number | string | undefined
  /** When a fixed window begins: by the clock (`clock`), at its first charge (`first`), or spread by key (`key`). */
  readonly align?: string | undefined
  /** For a fixed window: how long the limit grows at the start of each window. */
  readonly ramp?: number | string | undefined
  /** For a concurrency limit: the longest that a request keeps its slot. */
  readonly hold?: number | string | undefined
  /** The end, such as `2027-01-31T00:00:00Z`; absent: none. */
  readonly until?: string | undefined
}

/** @throws LimiterError INVALID_OPTIONS that names each wrong field; UNKNOWN_RULE if only the rule is wrong; no message shows a key */
export function overrideFrom(value: unknown, rules: readonly Rule[]): Override {
  const mistakes: string[] = []
  const node = nodeOf(value, 'override', 0, mistakes)
  // A low number without a unit is a mistake, because here nobody would see a warning.
  for (const name of ['window', 'ramp', 'hold']) {
    const problem = bareProblem((value as Readonly<Record<string, unknown>> | null | undefined)?.[name])
    if (problem !== undefined) mistakes.push(`override.${name}: ${problem}`)
  }
  if (mistakes.length > 0) throw new LimiterError('INVALID_OPTIONS', mistakes.join('; '))
  const issues = createIssues('override', () => ({ line: 1, column: 1 }))
  const known = new Map(rules.map((rule) => [rule.name, rule]))
  const override = readOverride(new Value(node, 'override', issues), known)
  const error = attempt(() => issues.settle())
  if (!(error instanceof PolicyError)) return override as Override
  const [first, second] = error.issues
  const isUnknown = second === undefined && first?.path === 'override.rule' && first.value !== undefined
  const message = error.issues.map((issue) => issue.message).join('; ')
  throw new LimiterError(isUnknown ? 'UNKNOWN_RULE' : 'INVALID_OPTIONS', message, { cause: error })
}

const MAX_DEPTH = 4
const KEY_FORM = 'a text, a finite number, null where requests have no value, or a list of these'

/**
 * A value that a policy's text cannot contain is added to `mistakes`: its text could be another key than the caller means. The override is
 * then refused, and the null node is not used.
 */
function nodeOf(value: unknown, place: string, depth: number, mistakes: string[]): PolicyNode {
  const isKey = place.startsWith('override.key')
  if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    if (Array.isArray(value))
      return { kind: 'list', at: 0, items: value.map((item, index) => nodeOf(item, `${place}[${index}]`, depth + 1, mistakes)) }
    const fields = new Map<string, Field>()
    for (const [name, content] of Object.entries(value))
      if (content !== undefined) fields.set(name, { at: 0, value: nodeOf(content, `${place}.${name}`, depth + 1, mistakes) })
    return { kind: 'map', at: 0, fields }
  }
  if (typeof value === 'string') return { kind: 'scalar', at: 0, text: value, type: 'text' }
  if (typeof value === 'number' && Number.isFinite(value)) return { kind: 'scalar', at: 0, text: String(value), type: 'number' }
  if (typeof value === 'boolean' && !isKey) return { kind: 'scalar', at: 0, text: String(value), type: 'boolean' }
  if (typeof value === 'object' && value !== null)
    mistakes.push(`${place} is nested too deep: expected ${isKey ? KEY_FORM : `at most ${MAX_DEPTH} levels`}`)
  else if (value !== null && (value !== undefined || depth > 0)) {
    const what = typeof value === 'number' || typeof value === 'boolean' || value === undefined ? String(value) : `a ${typeof value}`
    mistakes.push(`${place} is ${what}: expected ${isKey ? KEY_FORM : 'a text or a finite number'}`)
  }
  return { kind: 'scalar', at: 0, text: '', type: 'null' }
}
