import type { KeyQuestion } from 'sluice/policy'
import { BadRequest } from './answer.ts'

/** A question about a request, as a proxy or a backend saw it. */
export interface FactsQuestion {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly ip?: string
  readonly cost?: number
}

const KEY_FIELDS = ['key', 'limit', 'cost']
const FACT_FIELDS = ['method', 'path', 'headers', 'ip', 'cost']

/**
 * Reads the body of /v1/check: `{ key, limit?, cost? }` or `{ method, path, headers?, ip?, cost? }`.
 * @throws BadRequest naming the field, the value and what is allowed
 */
export function readQuestion(body: unknown): KeyQuestion | FactsQuestion {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new BadRequest('The body must be an object with key, or with method and path.')
  const fields = body as Record<string, unknown>
  const byKey = 'key' in fields
  if (!byKey && !('path' in fields)) throw new BadRequest('The body needs key, or method and path.')
  const allowed = byKey ? KEY_FIELDS : FACT_FIELDS
  const unknown = Object.keys(fields).find((name) => !allowed.includes(name))
  if (unknown !== undefined)
    throw new BadRequest(`The field ${JSON.stringify(unknown)} is not known here; allowed are ${allowed.join(', ')}.`)
  const cost = fields['cost'] === undefined ? {} : { cost: costOf(fields['cost']) }
  if (byKey) {
    const limit = fields['limit'] === undefined ? {} : { limit: textOf('limit', fields['limit']) }
    return { key: textOf('key', fields['key']), ...limit, ...cost }
  }
  const ip = fields['ip'] === undefined ? {} : { ip: textOf('ip', fields['ip']) }
  return {
    method: textOf('method', fields['method'] ?? 'GET'),
    path: textOf('path', fields['path']),
    headers: headersOf(fields['headers']),
    ...ip,
    ...cost,
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new BadRequest(`The field ${name} is ${JSON.stringify(value)}; expected a text that is not empty.`)
}

/** Whether it is above 0 and of six decimals is the limiter's to say; that it is a number is JSON's. */
function costOf(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const shown = typeof value === 'number' ? 'too large' : JSON.stringify(value)
  throw new BadRequest(`The field cost is ${shown}; expected a number above 0 with at most six decimals.`)
}

/** Header names are compared in lower case, whatever the caller wrote. */
function headersOf(value: unknown): Record<string, string | readonly string[]> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRequest('The field headers must be an object of names and values.')
  const entries = Object.entries(value).map(([name, content]): [string, string | readonly string[]] => {
    if (typeof content === 'string') return [name.toLowerCase(), content]
    if (Array.isArray(content) && content.every((item) => typeof item === 'string')) return [name.toLowerCase(), content]
    throw new BadRequest(`The header ${JSON.stringify(name)} is ${JSON.stringify(content)}; expected a text or a list of texts.`)
  })
  return Object.fromEntries(entries)
}
