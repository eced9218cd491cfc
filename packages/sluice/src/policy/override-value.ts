import { LimiterError } from '../errors/limiter-error.ts'
import { createIssues } from './document/issues.ts'
import { readOverride } from './native/override.ts'
import type { Field, PolicyNode } from './document/node.ts'
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
  refuseForeign(value, 'override')
  const issues = createIssues('override', () => ({ line: 1, column: 1 }))
  const known = new Map(rules.map((rule) => [rule.name, rule]))
  const override = readOverride({ node: nodeOf(value, 0), path: 'override', issues }, known)
  try {
    issues.settle()
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    const unknown = error.issues.length === 1 && error.issues[0]?.path === 'override.rule' && error.issues[0].value !== undefined
    throw new LimiterError(unknown ? 'UNKNOWN_RULE' : 'INVALID_OPTIONS', error.issues.map(({ message }) => message).join('; '), {
      cause: error,
    })
  }
  return override as Override
}

const MAX_DEPTH = 4
const KEY_FORM = 'a text, a finite number, null where requests have no value, or a list of these'

/**
 * Refuses values that a policy's text cannot contain. The text of a bigint or a symbol could be another key than the caller means. A
 * value that is dropped would address every request without the key.
 * @throws LimiterError INVALID_OPTIONS that names each
 */
function refuseForeign(value: unknown, place: string): void {
  const found = foreign(value, place, 0)
  if (found.length > 0) throw new LimiterError('INVALID_OPTIONS', found.join('; '))
}

function foreign(value: unknown, place: string, depth: number): string[] {
  const isKey = place.startsWith('override.key')
  if (typeof value === 'object' && value !== null) {
    if (depth >= MAX_DEPTH) return [`${place} is nested too deep: expected ${isKey ? KEY_FORM : `at most ${MAX_DEPTH} levels`}`]
    if (Array.isArray(value)) return value.flatMap((item, index) => foreign(item, `${place}[${index}]`, depth + 1))
    return Object.entries(value).flatMap(([name, content]) =>
      content === undefined ? [] : foreign(content, `${place}.${name}`, depth + 1),
    )
  }
  const isFine = typeof value === 'string' || value === null || Number.isFinite(value) || (typeof value === 'boolean' && !isKey)
  if (isFine || (depth === 0 && value === undefined)) return []
  const what = typeof value === 'number' || typeof value === 'boolean' || value === undefined ? String(value) : `a ${typeof value}`
  return [`${place} is ${what}: expected ${isKey ? KEY_FORM : 'a text or a finite number'}`]
}

function nodeOf(value: unknown, depth: number): PolicyNode {
  if (Array.isArray(value) && depth < MAX_DEPTH) return { kind: 'list', at: 0, items: value.map((item) => nodeOf(item, depth + 1)) }
  if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    const fields = Object.entries(value)
      .filter(([, content]) => content !== undefined)
      .map(([name, content]): [string, Field] => [name, { at: 0, value: nodeOf(content, depth + 1) }])
    return { kind: 'map', at: 0, fields: new Map(fields) }
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'scalar', at: 0, text: String(value), type: typeof value === 'number' ? 'number' : 'boolean' }
  }
  return typeof value === 'string'
    ? { kind: 'scalar', at: 0, text: value, type: 'text' }
    : { kind: 'scalar', at: 0, text: '', type: 'null' }
}
