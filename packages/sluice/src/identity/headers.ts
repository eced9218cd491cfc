import { type Form, requireForm } from '../errors/options.ts'
import { areSeveralCredentials, CREDENTIALS } from './credentials.ts'

/** By lower-case name; a repeated field is a list or joined by commas. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const FIELD: Form = [
  (value) => value === null || (Array.isArray(value) && value.every((line) => typeof line === 'string')),
  'a text or a list of texts',
]

/**
 * A wrong type is an error. If it were ignored, a cost in the field would become 1, or a client would have no key.
 * @throws LimiterError INVALID_OPTIONS unless the value is a text or a list of texts
 */
function headerField(headers: Headers, name: string): string | readonly string[] | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (typeof value === 'string' || value === undefined) return value
  requireForm('facts', `headers[${JSON.stringify(name)}]`, value, FIELD)
  return value ?? undefined
}

/** Undefined if the field is missing. */
export function joinedField(headers: Headers, name: string, separator: string): string | undefined {
  const value = headerField(headers, name)
  return typeof value === 'string' ? value : value?.join(separator)
}

/**
 * Replaces a value that a request gives in several ways, such as a header on two lines. All such requests share it, so nobody gets a fresh
 * key by one more line. No path equals it, because paths begin with a slash.
 */
export const AMBIGUOUS = '(ambiguous)'

export interface HeaderFields {
  readonly headers: Headers
  /** Names and values alternating, by line, as in node's `rawHeaders`. */
  readonly rawHeaders?: readonly string[] | undefined
}

/** Node keeps only the first line of these fields in `headers`. */
const FIRST_LINE_KEPT: ReadonlySet<string> = new Set(
  `
  age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since
  last-modified location max-forwards proxy-authorization referer retry-after server user-agent
`
    .trim()
    .split(/\s+/),
)
const NONE: readonly string[] = []

/** Without `rawHeaders`, a text is split at its commas, because joined lines look the same. */
export function headerLines({ headers, rawHeaders }: HeaderFields, name: string): readonly string[] {
  const value = headerField(headers, name)
  if (value === undefined) return NONE
  if (typeof value !== 'string') return value
  if (rawHeaders === undefined) return isJoined(name, value) ? value.split(',').map((line) => line.trim()) : [value]
  if (!value.includes(',') && !FIRST_LINE_KEPT.has(name)) return [value]
  const lines = rawLines(rawHeaders, name)
  // A middleware may have set the field, which `rawHeaders` then lacks.
  return lines.length > 1 ? lines : [value]
}

/** Commas in comments of a User-Agent and between parameters of credentials do not count. */
function isJoined(name: string, value: string): boolean {
  if (!value.includes(',')) return false
  if (CREDENTIALS.has(name)) return areSeveralCredentials(value)
  return name !== 'user-agent' || value.replace(/\([^()]*\)/g, '').includes(',')
}

function rawLines(rawHeaders: readonly string[], name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [found, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string]
    if (found.length === name.length && found.toLowerCase() === name) lines.push(value)
  }
  return lines
}
