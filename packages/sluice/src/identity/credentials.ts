/** In credentials, commas separate parameters, not lines (RFC 9110, 11). */
export const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Credentials after a comma: a scheme, a blank, and then no `=`, which would follow the name of a parameter. */
const ANOTHER = /,[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]+[^\s=,]/
/** Without a closing quote it extends to the end: no text is scanned twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("|\\?$)/gs

export function areSeveralCredentials(text: string): boolean {
  return ANOTHER.test(text.replace(QUOTED, (found: string, end: string) => (end === '"' ? '""' : found)))
}

/** A bare token, but not the name of a parameter. */
const TOKEN = /^[^\s=,;]+=*(?=[\s,;]|$)/
/** The parameter `token` of Rails and others, quoted or not. */
const TOKEN_PARAMETER = /(?:^|[,; \t])token[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)|([^\s=,;"][^\s,;]*))/gi

/**
 * The ways in which backends read one line of credentials. The canonical form is the scheme in lower case, a blank, and one token or all
 * parameters. Text after a token is dropped, because many backends read no further.
 */
export function credentialReadings(text: string): readonly string[] {
  if (text.includes(',') && areSeveralCredentials(text)) return text.split(',').flatMap((line) => credentialReadings(line.trim()))
  const [, written = '', rest = ''] = /^([^ \t]*)[ \t]*([^]*)$/.exec(text.trim()) ?? []
  if (rest === '') return [written]
  const scheme = written.toLowerCase()
  const readings =
    scheme === 'basic' ? basicReadings(rest) : scheme === 'bearer' || scheme === 'token' ? tokenReadings(rest) : [wordOf(rest)]
  return readings.map((reading) => `${scheme} ${reading}`.trim())
}

/** Some backends decode one word, others all text after the scheme. */
function basicReadings(text: string): readonly string[] {
  const [word = ''] = text.split(/[ \t]/, 1)
  return word === text ? base64Readings(text) : [...new Set([...base64Readings(word), ...base64Readings(text)])]
}

/** A token may be bare, quoted or a parameter; backends may use any. */
function tokenReadings(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(TOKEN_PARAMETER)) found.add(tokenOf(quoted ?? plain ?? ''))
  const bare = text.replaceAll('"', '').trim()
  const alone = TOKEN.exec(bare)?.[0]
  if (alone !== undefined && !/^[ \t]*=/.test(bare.slice(alone.length))) found.add(tokenOf(alone))
  return found.size === 0 ? [wordOf(text)] : [...found]
}

function tokenOf(text: string): string {
  const plain = text.replace(/\\(.)/g, '$1').replaceAll('"', '')
  return plain.replace(/^\s*(?:token=)*(?=[^=])/i, '').replace(/[\s,;][^]*/, '')
}

/** The first word if it is a token, else all parameters. */
function wordOf(text: string): string {
  const words = text.split(/[ \t]+/)
  const [first = '', second] = words
  return /^[^=,"]+=*,?$/.test(first) && second?.startsWith('=') !== true ? first : words.join(' ')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CLEAN = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * How Base64 decoders read a text, each encoded again canonically. They agree about plain Base64, and disagree about everything else:
 * - `-` and `_` are `+` and `/` (Node) or skipped (Python, PHP)
 * - other characters are skipped (Node, Python, PHP, MIME decoders of Java) or end the text (Apache)
 * - a `=` ends the text (Ruby), or is skipped (PHP), or ends it only where a group is complete (Python, Node)
 */
function base64Readings(text: string): readonly string[] {
  if (CLEAN.test(text)) return [encoded(text.replace(/=+$/, ''))]
  const found = new Set<string>()
  for (const isUrlSafe of [false, true])
    for (const skips of [false, true]) {
      const ending = isUrlSafe ? /[^A-Za-z0-9+/=_-][^]*/ : /[^A-Za-z0-9+/=][^]*/
      const skipped = isUrlSafe ? /[^A-Za-z0-9+/=_-]/g : /[^A-Za-z0-9+/=]/g
      const kept = text
        .replace(skips ? skipped : ending, '')
        .replaceAll('-', '+')
        .replaceAll('_', '/')
      found.add(encoded(kept.replace(/=[^]*/, '')))
      found.add(encoded(kept.replaceAll('=', '')))
      found.add(encoded(untilComplete(kept)))
    }
  return [...found]
}

/** The text up to the `=` that completes a group of four. Any other `=` is skipped. */
function untilComplete(text: string): string {
  let kept = ''
  let pads = 0
  for (const character of text) {
    if (character !== '=') {
      kept += character
      pads = 0
    } else if (kept.length % 4 >= 2 && (kept.length % 4) + ++pads >= 4) return kept
  }
  return kept
}

/** Decoders ignore trailing bits that form no byte, so these are cleared. */
function encoded(text: string): string {
  const over = text.length % 4
  if (over === 0) return text
  const whole = text.slice(0, text.length - over)
  if (over === 1) return whole
  const last = ALPHABET.indexOf(text.charAt(text.length - 1))
  const kept = ALPHABET.charAt(over === 2 ? last & 0x30 : last & 0x3c)
  return `${text.slice(0, -1)}${kept}${over === 2 ? '==' : '='}`
}
