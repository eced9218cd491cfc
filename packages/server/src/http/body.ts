import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { firstWrongByte } from 'sluice/policy'
import type { HeaderList } from 'sluice/http'
import { BadRequest, type Members, Refusal } from './answer.ts'

/** If a refused body has more bytes, the connection is closed. */
const MAX_DRAIN = 16_777_216

/**
 * @throws Refusal 413 for a body of more than `largest` bytes, 415 for a compressed or otherwise encoded body; BadRequest for a body that
 * ends early
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

/** @throws Refusal 413 or 415 as `readBytes`; BadRequest for a body that is not JSON */
export async function readJson(request: IncomingMessage, largest: number): Promise<unknown> {
  const bytes = await readBytes(request, largest)
  // If U+FFFD replaced invalid bytes, several keys would share one bucket.
  if (!isUtf8(bytes)) throw notUtf8(bytes)
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = withoutExcerpt((cause as Error).message)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : why}.`)
  }
}

/** @throws BadRequest with `expected` for any other value than a JSON object */
export function objectOf(value: unknown, expected: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw new BadRequest(expected)
}

function notUtf8(bytes: Uint8Array): BadRequest {
  const at = firstWrongByte(bytes) ?? 0
  const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0')
  return new BadRequest(`The body is not UTF-8: byte 0x${byte} at offset ${at}.`)
}

/** A few encoded bytes could decode to very many. */
function refuseEncoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || /^[ \t]*(?:identity[ \t]*)?$/i.test(encoding)) return
  const detail = `The body has the content encoding ${JSON.stringify(encoding.slice(0, 60))}; expected none.`
  throw new Refusal(415, detail, {}, [['Accept-Encoding', 'identity']])
}

/** JSON.parse quotes the body, which may contain keys and addresses. */
function withoutExcerpt(why: string): string {
  return why.replace(/(?:, |^)(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '') || 'it is not a value'
}
