import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { firstWrongByte } from 'sluice/policy'
import type { HeaderList } from 'sluice/http'
import { BadRequest, type Members, Refusal } from './answer.ts'

/**
 * The most bytes of a refused body that are read so that the connection can be used again. If the body is longer, the connection is closed
 * instead.
 */
const MAX_DRAIN = 16_777_216

/**
 * Reads the body's bytes. The rest of a body that is too long is read and dropped, so that the connection survives the refusal.
 * @param largest the most bytes of a body
 * @throws Refusal 413 for a larger body, 415 for a compressed or otherwise encoded body; BadRequest for a body that ends early
 */
export function readBytes(request: IncomingMessage, largest: number): Promise<Buffer> {
  refuseEncoded(request)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    let size = 0
    const tooLarge = (headers: HeaderList = []): void => reject(new Refusal(413, `The body is larger than ${largest} bytes.`, {}, headers))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= largest) return void parts.push(chunk)
      parts.length = 0
      if (size <= MAX_DRAIN) return
      request.off('data', take)
      tooLarge([['Connection', 'close']])
    }
    request.on('data', take)
    request.on('end', () => {
      if (size > largest) tooLarge()
      else resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts))
    })
    request.on('close', () => {
      if (!request.readableEnded) reject(new BadRequest('The body was broken off.'))
    })
  })
}

/** Reads a JSON body. @throws Refusal 413 or 415 as `readBytes`; BadRequest that says what is wrong */
export async function readJson(request: IncomingMessage, largest: number): Promise<unknown> {
  const bytes = await readBytes(request, largest)
  // Invalid bytes are refused. If U+FFFD replaced them, several keys would share one bucket.
  if (!isUtf8(bytes)) throw notUtf8(bytes)
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = withoutExcerpt((cause as Error).message)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : why}.`)
  }
}

/** The fields of a JSON object. @throws BadRequest with `expected` for any other value */
export function objectOf(value: unknown, expected: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw new BadRequest(expected)
}

function notUtf8(bytes: Uint8Array): BadRequest {
  const at = firstWrongByte(bytes) ?? 0
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0')
  return new BadRequest(`The body is not UTF-8: byte 0x${byte} at offset ${at}.`)
}

/** Refuses a body with a Content-Encoding, because a few bytes could decode to very many. */
function refuseEncoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || /^[ \t]*(?:identity[ \t]*)?$/i.test(encoding)) return
  const detail = `The body has the content encoding ${JSON.stringify(encoding.slice(0, 60))}; expected none.`
  throw new Refusal(415, detail, {}, [['Accept-Encoding', 'identity']])
}

/** Removes the excerpt that JSON.parse quotes from the body, because it may contain keys and addresses. */
function withoutExcerpt(why: string): string {
  return why.replace(/(?:, |^)(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '') || 'it is not a value'
}
