import { base64Readings } from './base64-readings.ts'

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

/** A token of Bearer or Token that stands alone: not the name of a parameter, which an `=` and a value follow. */
const TOKEN = /^[^\s=,;]+=*(?=[\s,;]|$)/
/** The parameter `token` of Rails and others, in quotes or without. */
const TOKEN_PARAMETER = /(?:^|[,; \t])token[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)|([^\s=,;"][^\s,;]*))/gi

/**
 * What backends read from one line of credentials, each in one spelling: the scheme in lower case, one blank, then a token alone or all parameters as
 * they are. What follows a token is dropped, since many a backend reads no further. Basic is what it decodes to, in plain Base64. One reading where
 * all backends agree, which read again gives itself; more where they do not. Credentials of several lines in one text give those of each.
 */
export function credentialReadings(text: string): readonly string[] {
  if (text.includes(',') && areSeveralCredentials(text)) return text.split(',').flatMap((line) => credentialReadings(line.trim()))
  const [, written = '', rest = ''] = /^([^ \t]*)[ \t]*([^]*)$/.exec(text.trim()) ?? []
  if (rest === '') return [written]
  const scheme = written.toLowerCase()
  const readings =
    scheme === 'basic' ? basicReadings(rest) : scheme === 'bearer' || scheme === 'token' ? tokenReadings(rest) : [wordOf(rest)]
  return readings.length === 1 ? [`${scheme} ${readings[0]}`.trim()] : readings.map((reading) => `${scheme} ${reading}`.trim())
}

/** Some decode the second word, some all that follows the scheme. */
function basicReadings(text: string): readonly string[] {
  const [word = ''] = text.split(/[ \t]/, 1)
  return word === text ? base64Readings(text) : [...new Set([...base64Readings(word), ...base64Readings(text)])]
}

/** A token is alone, in quotes or a parameter; of several, nobody knows which one a backend takes. */
function tokenReadings(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(TOKEN_PARAMETER)) found.add(tokenOf(quoted ?? plain ?? ''))
  const bare = text.replaceAll('"', '').trim()
  const alone = TOKEN.exec(bare)?.[0]
  if (alone !== undefined && !/^[ \t]*=/.test(bare.slice(alone.length))) found.add(tokenOf(alone))
  return found.size === 0 ? [wordOf(text)] : [...found]
}

/** Without quotes, escapes and what parts parameters. Names of the parameter before it are not a part of the token. */
function tokenOf(text: string): string {
  const plain = text.replace(/\\(.)/g, '$1').replaceAll('"', '')
  return plain.replace(/^\s*(?:token=)*(?=[^=])/i, '').replace(/[\s,;][^]*/, '')
}

/** A token, or all parameters as they are. */
function wordOf(text: string): string {
  const words = text.split(/[ \t]+/)
  const [first = '', second] = words
  return /^[^=,"]+=*,?$/.test(first) && second?.startsWith('=') !== true ? first : words.join(' ')
}
