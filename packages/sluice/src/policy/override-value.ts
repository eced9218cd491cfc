import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { createIssues } from './document/issues.ts'
import { readOverride } from './native/override.ts'
import { type Field, type PolicyNode, Value } from './document/value.ts'
import type { Override, Rule } from './model/rule.ts'
import { PolicyError } from './document/policy-error.ts'

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
  const mistakes: string[] = []
  const node = nodeOf(value, 'override', 0, mistakes)
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
 * The value as a node. What a policy's text cannot contain becomes null and one of the mistakes: the text of a bigint or a symbol could be
 * another key than the caller means, and a value that is dropped would address every request without the key.
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
