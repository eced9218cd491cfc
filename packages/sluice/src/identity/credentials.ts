/** The fields that hold credentials (RFC 9110, 11): commas part their parameters, not lines. */
export const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Credentials behind a comma: a scheme, a blank, and no `=` next, which would make it a parameter. */
const ANOTHER = /,[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]+[^\s=,]/
/** To its second quote or, so that no text is scanned twice, to the end. */
const QUOTED = /"(?:[^"\\]|\\.)*("|\\?$)/gs

/** Whether a field of credentials holds those of several lines, joined by commas. */
export function areSeveralCredentials(text: string): boolean {
  return ANOTHER.test(text.replace(QUOTED, (found: string, end: string) => (end === '"' ? '""' : found)))
}

/**
 * Credentials in one spelling: the scheme in lower case, one blank, then a token alone or all parameters as they are. What stands behind a
 * token is dropped: many a backend reads the second word and no more. Idempotent.
 */
export function canonicalCredentials(text: string): string {
  const [scheme = '', ...words] = text.trim().split(/[ \t]+/)
  const [first, second] = words
  if (first === undefined) return scheme
  const isToken = /^[^=,"]+=*,?$/.test(first) && second?.startsWith('=') !== true
  return `${scheme.toLowerCase()} ${isToken ? first : words.join(' ')}`
}
