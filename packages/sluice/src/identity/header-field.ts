import { type Form, requireForm } from '../errors/options.ts'

/** Header fields by lower-case name; a repeated one is a list or joined by commas. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

const FIELD: Form = [
  (value) => value === null || (Array.isArray(value) && value.every((line) => typeof line === 'string')),
  'a text or a list of texts',
]

/**
 * The value of a header field; undefined if it is missing or null. Only fields that are read are checked. A field of the wrong type is an
 * error, because ignoring it would mean a cost of 1, or a client without a key.
 * @throws LimiterError INVALID_OPTIONS unless the value is a text or a list of texts
 */
export function headerField(headers: Headers, name: string): string | readonly string[] | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (typeof value === 'string' || value === undefined) return value
  requireForm('facts', `headers[${JSON.stringify(name)}]`, value, FIELD)
  return value ?? undefined
}
