import { type Form, requireForm } from '../errors/options.ts'

/** Header fields by lower-case name; a repeated one as a list or joined by commas. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const FIELD: Form = [
  (value) => value === null || (Array.isArray(value) && value.every((line) => typeof line === 'string')),
  'a text or a list of texts',
]

/**
 * What stands in a header field; undefined where it is missing, and null counts as missing. Only fields that are read are checked: a number that
 * was lost would be a cost of 1, or a client without a key.
 * @throws LimiterError INVALID_OPTIONS for what is neither a text nor a list of texts
 */
export function headerField(headers: Headers, name: string): string | readonly string[] | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (typeof value === 'string' || value === undefined) return value
  requireForm('facts', `headers[${JSON.stringify(name)}]`, value, FIELD)
  return value ?? undefined
}
