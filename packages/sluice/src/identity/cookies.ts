import { type Headers, joinedField } from './headers.ts'
import { decodeEscapes } from './path.ts'

/**
 * All values of a cookie. Some parsers separate cookies at commas too, so a value with a comma gives two values: the whole, and the text
 * before the comma.
 */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  const values: string[] = []
  // Cookies are separated by semicolons, not commas.
  for (const pair of (joinedField(headers, 'cookie', ';') ?? '').split(';')) {
    const parts = pair.includes(',') ? [...pair.split(','), pair] : [pair]
    for (const part of parts) {
      const equals = part.indexOf('=')
      if (equals !== -1 && part.slice(0, equals).trim() === name) addValue(values, part.slice(equals + 1).trim())
    }
  }
  return values
}

function addValue(values: string[], text: string): void {
  if (!text.startsWith('"')) return void values.push(decoded(text))
  const inner = text.slice(1, -1)
  if (text.length > 1 && text.endsWith('"')) return void values.push(decoded(unescaped(inner)))
  // For a value that begins with a quote, some parsers drop the last character as the closing quote, whatever that character is.
  values.push(decoded(text), decoded(inner))
}

/** Decodes the escapes of a quoted value as parsers of RFC 2109 do: `\"`, and `\` with the three octal digits of a byte. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:([0-3][0-7]{2})|(.))/gs, (_found, digits: string | undefined, character: string) =>
    digits === undefined ? character : String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/**
 * Percent-decodes a value. Most frameworks decode cookies, so a client could otherwise spell one value in many ways. Invalid escapes stay
 * as they are. Bytes that are valid UTF-8 are decoded, escaped or not, because a header has one character for each byte.
 */
function decoded(text: string): string {
  if (/^[\0-\x24\x26-\x7f]*$/.test(text)) return text
  return text
    .replace(/%([\da-f]{2})/gi, (_found, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/[\x80-\xff]+/g, fromUtf8)
}

function fromUtf8(bytes: string): string {
  return decodeEscapes(bytes.replace(/./gs, (byte) => `%${byte.charCodeAt(0).toString(16)}`)) ?? bytes
}
