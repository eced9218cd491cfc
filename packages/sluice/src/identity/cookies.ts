import { type Headers, joinedField } from './headers.ts'
import { decodeEscapes } from './path.ts'

/** Some parsers separate cookies at commas too, so a value with a comma also gives the text before the comma. */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  const values: string[] = []
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
  // After an opening quote, some parsers drop the last character, whatever it is.
  values.push(decoded(text), decoded(inner))
}

/** RFC 2109: `\"`, and `\` with a byte's three octal digits. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:([0-3][0-7]{2})|(.))/gs, (_found, digits: string | undefined, character: string) =>
    digits === undefined ? character : String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/**
 * Most frameworks decode cookies, so a client could spell one value in many ways. A header has one character for each byte, so UTF-8 is
 * decoded too.
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
