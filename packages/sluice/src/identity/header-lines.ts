import { AMBIGUOUS } from './ambiguous.ts'
import { areSeveralCredentials, CREDENTIALS } from './credentials.ts'
import { headerField, type Headers } from './header-field.ts'

/** The header fields of a request, and the lines they came on where these are known. */
export interface HeaderFields {
  readonly headers: Headers
  /** Names and values in turn, one pair for each line, as `rawHeaders` of node has them. */
  readonly rawHeaders?: readonly string[] | undefined
}

/** Fields of which node keeps the first line and drops the others without a trace in `headers`. */
const FIRST_LINE_KEPT: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
])
const NONE: readonly string[] = []

/**
 * The values of a header, one for each line. A list says itself how many lines there were, and so do raw headers; where there is only one
 * text, it is taken apart at its commas, since lines that were joined cannot be told from a value with a comma.
 */
export function headerLines({ headers, rawHeaders }: HeaderFields, name: string): readonly string[] {
  const value = headerField(headers, name)
  if (value === undefined) return NONE
  if (typeof value !== 'string') return value
  if (rawHeaders === undefined) return isJoined(name, value) ? value.split(',').map((line) => line.trim()) : [value]
  if (!value.includes(',') && !FIRST_LINE_KEPT.has(name)) return [value]
  const lines = rawLines(rawHeaders, name)
  // A middleware may have set a field that the client did not send.
  return lines.length > 1 ? lines : [value]
}

/** The value of a header: undefined where it is missing, AMBIGUOUS where it stands on several lines, whatever they say. */
export function headerValue(fields: HeaderFields, name: string): string | undefined {
  const { headers, rawHeaders } = fields
  const value = headerField(headers, name)
  if (value === undefined) return undefined
  // Most fields are one text without a comma.
  if (typeof value === 'string' && !value.includes(',') && (rawHeaders === undefined || !FIRST_LINE_KEPT.has(name))) return value
  const lines = headerLines(fields, name)
  return lines.length > 1 ? AMBIGUOUS : lines[0]
}

/** The comments of a User-Agent have commas in every browser, and so have the parameters of credentials. */
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
