import { headerField, type Headers } from './headers.ts'

/** Some readers separate cookies at commas too, so a value with a comma gives two: the whole, and the text before the comma. */
export function cookieValues(headers: Headers, name: string): readonly string[] {
  const values: string[] = []
  for (const pair of cookieText(headers).split(';')) {
    const parts = pair.includes(',') ? [...pair.split(','), pair] : [pair]
    for (const part of parts) {
      const equals = part.indexOf('=')
      if (equals !== -1 && part.slice(0, equals).trim() === name) addValue(values, part.slice(equals + 1).trim())
    }
  }
  return values
}

/** Joins the lines of the cookie header; cookies are separated by semicolons, not commas. */
function cookieText(headers: Headers): string {
  const value = headerField(headers, 'cookie')
  return typeof value === 'string' ? value : (value ?? []).join(';')
}

function addValue(values: string[], text: string): void {
  if (!text.startsWith('"')) return void values.push(decoded(text))
  const inner = text.slice(1, -1)
  if (text.length > 1 && text.endsWith('"')) return void values.push(decoded(unescaped(inner)))
  // Some readers take the last character for the closing quote, whatever it is.
  values.push(decoded(text), decoded(inner))
}

/** Decodes a quoted value as readers of RFC 2109 do: `\"` and the three octal digits of a byte. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:([0-3][0-7]{2})|(.))/gs, (_found, digits: string | undefined, character: string) =>
    digits === undefined ? character : String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

/**
 * Percent-decodes a value, because most frameworks do so and a client can then spell it in many ways. Invalid escapes stay as they are.
 * Bytes are decoded as UTF-8 if they are valid UTF-8, escaped or not: a header has one character for each byte.
 */
function decoded(text: string): string {
  if (/^[\0-\x24\x26-\x7f]*$/.test(text)) return text
  return text
    .replace(/%([\da-f]{2})/gi, (_found, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/[\x80-\xff]+/g, fromUtf8)
}

function fromUtf8(bytes: string): string {
  try {
    return decodeURIComponent(bytes.replace(/./gs, (byte) => `%${byte.charCodeAt(0).toString(16)}`))
  } catch {
    return bytes
  }
}
