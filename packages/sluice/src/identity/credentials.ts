/** Fields that contain credentials (RFC 9110, 11). Commas in them separate parameters, not lines. */
export const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])

/** Matches credentials after a comma: a scheme, a blank, and then no `=`. With a `=` the word would be a parameter. */
const ANOTHER = /,[ \t]*[\w!#$%&'*+.^`|~-]+[ \t]+[^\s=,]/
/** Matches a quoted text up to its closing quote. Without a closing quote it extends to the end, so that no text is scanned twice. */
const QUOTED = /"(?:[^"\\]|\\.)*("|\\?$)/gs

export function areSeveralCredentials(text: string): boolean {
  return ANOTHER.test(text.replace(QUOTED, (found: string, end: string) => (end === '"' ? '""' : found)))
}

/** Matches an unquoted token of the schemes Bearer or Token. The name of a parameter, which `=` and a value follow, does not match. */
const TOKEN = /^[^\s=,;]+=*(?=[\s,;]|$)/
/** Matches the parameter `token` of Rails and others, quoted or not. */
const TOKEN_PARAMETER = /(?:^|[,; \t])token[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)|([^\s=,;"][^\s,;]*))/gi

/**
 * The ways in which backends read one line of credentials. If all backends agree, there is one reading, otherwise several. A reading has a
 * canonical form: the scheme in lower case, one blank, then one token or all parameters unchanged. Reading that form again gives the same
 * text. Text after a token is dropped, because many backends read no further. Basic credentials are decoded, and encoded again in plain
 * Base64. A text of several joined lines gives the readings of each line.
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

/** The readings of Basic credentials. Some backends decode the word after the scheme, others all text after it. */
function basicReadings(text: string): readonly string[] {
  const [word = ''] = text.split(/[ \t]/, 1)
  return word === text ? base64Readings(text) : [...new Set([...base64Readings(word), ...base64Readings(text)])]
}

/**
 * The readings of a token, which may be bare, quoted or a parameter. With several tokens, each is a reading, because backends may use any
 * of them.
 */
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

/** The first word if it is a token, otherwise all parameters unchanged. */
function wordOf(text: string): string {
  const words = text.split(/[ \t]+/)
  const [first = '', second] = words
  return /^[^=,"]+=*,?$/.test(first) && second?.startsWith('=') !== true ? first : words.join(' ')
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CLEAN = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * The ways in which Base64 decoders read a text, each encoded again canonically. Decoders agree about plain Base64 with or without padding;
 * the result then has one reading. They disagree about everything else:
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

/** The text up to the `=` that completes a group of four, with at most one other `=` before it. Any other `=` is skipped. */
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

/** The canonical Base64: it adds padding, and clears the trailing bits that form no byte, because decoders ignore these bits. */
function encoded(text: string): string {
  const over = text.length % 4
  if (over === 0) return text
  const whole = text.slice(0, text.length - over)
  if (over === 1) return whole
  const last = ALPHABET.indexOf(text.charAt(text.length - 1))
  const kept = ALPHABET.charAt(over === 2 ? last & 0x30 : last & 0x3c)
  return `${text.slice(0, -1)}${kept}${over === 2 ? '==' : '='}`
}
