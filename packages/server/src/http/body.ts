import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { firstWrongByte } from 'sluice/policy'
import type { HeaderList } from 'sluice/http'
import { BadRequest, Refusal } from './answer.ts'

/** A longer body is not read to its end just to keep the connection; in bytes. */
const MAX_DRAIN = 16_777_216

/**
 * Reads the body's bytes. The rest of a body that is too long is read and dropped, so that the connection survives the refusal.
 * @param largest in bytes
 * @throws Refusal 413 for a larger body, 415 for an encoded one; BadRequest for one that ends early
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
  // Replacing invalid bytes by U+FFFD would give several keys one bucket.
  if (!isUtf8(bytes)) throw notUtf8(bytes)
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : withoutExcerpt(why)}.`)
  }
}

/** The fields of a JSON object. @throws BadRequest with `expected` for any other value */
export function objectOf(value: unknown, expected: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  throw new BadRequest(expected)
}

function notUtf8(bytes: Uint8Array): BadRequest {
  const at = firstWrongByte(bytes) ?? 0
  return new BadRequest(`The body is not UTF-8: byte 0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')} at offset ${at}.`)
}

/** Refuses an encoded body: a few bytes could decode to very many. */
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
