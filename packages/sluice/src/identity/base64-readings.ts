const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CLEAN = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * The ways in which Base64 decoders read a text, each encoded again canonically. Decoders agree about plain Base64 with or without padding;
 * the result then has one reading. They disagree about everything else:
 * - `-` and `_` are `+` and `/` (Node) or skipped (Python, PHP)
 * - other characters are skipped (Node, Python, PHP, MIME decoders of Java) or end the text (Apache)
 * - a `=` ends the text (Ruby), or is skipped (PHP), or ends it only where a group is complete (Python, Node)
 */
export function base64Readings(text: string): readonly string[] {
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

/** A `=` ends the text if it completes a group of four with at most one other `=`, and is skipped elsewhere. */
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

/** Adds padding, and clears the trailing bits that form no byte, as decoders do. */
function encoded(text: string): string {
  const over = text.length % 4
  if (over === 0) return text
  const whole = text.slice(0, text.length - over)
  if (over === 1) return whole
  const last = ALPHABET.indexOf(text.charAt(text.length - 1))
  const kept = ALPHABET.charAt(over === 2 ? last & 0x30 : last & 0x3c)
  return `${text.slice(0, -1)}${kept}${over === 2 ? '==' : '='}`
}
