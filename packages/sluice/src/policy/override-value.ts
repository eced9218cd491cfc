import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { createIssues } from './document/issues.ts'
import { readOverride } from './native/override.ts'
import { type PolicyNode, Value } from './document/value.ts'
import type { Override } from './model/override.ts'
import { PolicyError } from './document/policy-error.ts'
import type { Rule } from './model/rule.ts'

/** An override in the fields of the policy file: a rule, a key, the fields of a limit, and its end. */
export interface OverrideFields {
  readonly rule: string
  readonly key: string | number | readonly (string | number | null)[]
  readonly algorithm?: string
  readonly rate?: string
  readonly burst?: number | string
  readonly limit?: number | string
  readonly window?: number | string
  readonly align?: string
  readonly ramp?: number | string
  readonly until?: string
}

/**
 * Reads an override from a value instead of a file, such as the body of a request.
 * @throws LimiterError INVALID_OPTIONS that names each wrong field; UNKNOWN_RULE if only the rule is wrong; no message shows a key
 */
export function overrideFrom(value: unknown, rules: readonly Rule[]): Override {
  const foreign = foreignIn(value, 'override', 0)
  if (foreign.length > 0) throw new LimiterError('INVALID_OPTIONS', foreign.join('; '))
  const issues = createIssues('override', () => ({ line: 1, column: 1 }))
  const known = new Map(rules.map((rule) => [rule.name, rule]))
  const override = readOverride(new Value(nodeOf(value), 'override', issues), known)
  const error = attempt(() => issues.settle())
  if (!(error instanceof PolicyError)) return override as Override
  const [first, second] = error.issues
  const isUnknown = second === undefined && first?.path === 'override.rule' && first.value !== undefined
  const message = error.issues.map((issue) => issue.message).join('; ')
  throw new LimiterError(isUnknown ? 'UNKNOWN_RULE' : 'INVALID_OPTIONS', message, { cause: error })
}

const MAX_DEPTH = 4
const KEY_FORM = 'a text, a finite number, null where requests have no value, or a list of these'

/** What a policy's text cannot contain, as messages: such a value could address other requests than the caller means. */
function foreignIn(value: unknown, place: string, depth: number): string[] {
  const isKey = place.startsWith('override.key')
  if (typeof value === 'object' && value !== null) {
    if (depth >= MAX_DEPTH) return [`${place} is nested too deep: expected ${isKey ? KEY_FORM : `at most ${MAX_DEPTH} levels`}`]
    if (Array.isArray(value)) return value.flatMap((item, index) => foreignIn(item, `${place}[${index}]`, depth + 1))
    return Object.entries(value).flatMap(([name, content]) =>
      content === undefined ? [] : foreignIn(content, `${place}.${name}`, depth + 1),
    )
  }
  const isFine = typeof value === 'string' || value === null || Number.isFinite(value) || (typeof value === 'boolean' && !isKey)
  if (isFine || (depth === 0 && value === undefined)) return []
  const what = typeof value === 'number' || typeof value === 'boolean' || value === undefined ? String(value) : `a ${typeof value}`
  return [`${place} is ${what}: expected ${isKey ? KEY_FORM : 'a text or a finite number'}`]
}

function nodeOf(value: unknown): PolicyNode {
  if (Array.isArray(value)) return { kind: 'list', at: 0, items: value.map(nodeOf) }
  if (typeof value === 'object' && value !== null) {
    const given = Object.entries(value).filter(([, content]) => content !== undefined)
    return { kind: 'map', at: 0, fields: new Map(given.map(([name, content]) => [name, { at: 0, value: nodeOf(content) }])) }
  }
  if (typeof value === 'string') return { kind: 'scalar', at: 0, text: value, type: 'text' }
  if (typeof value === 'number') return { kind: 'scalar', at: 0, text: String(value), type: 'number' }
  if (typeof value === 'boolean') return { kind: 'scalar', at: 0, text: String(value), type: 'boolean' }
  return { kind: 'scalar', at: 0, text: '', type: 'null' }
}
