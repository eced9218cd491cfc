import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { firstWrongByte } from 'sluice/policy'
import type { HeaderList } from 'sluice/http'
import { BadRequest, Refusal } from './answer.ts'

/** A body longer than this is not read to its end just to keep the connection. */
const MAX_DRAIN = 16_777_216
const NOTHING = Buffer.alloc(0)

/**
 * The body's bytes. One that is too long is read on and thrown away, so that the connection survives the refusal.
 * @param largest in bytes
 * @throws Refusal 413 for one that is larger, 415 for one that is encoded; BadRequest for one that is broken off
 */
export function readBytes(request: IncomingMessage, largest: number): Promise<Uint8Array> {
  refuseEncoded(request)
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let parts: Buffer[] | undefined
    let size = 0
    const tooLarge = (headers: HeaderList = []): void =>
      reject(new Refusal(413, 'Content Too Large', `The body is larger than ${largest} bytes.`, {}, headers))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size > largest) {
        first = undefined
        parts = undefined
        if (size <= MAX_DRAIN) return
        request.off('data', take)
        tooLarge([['Connection', 'close']])
      } else if (first === undefined) first = chunk
      else (parts ??= [first]).push(chunk)
    }
    request.on('data', take)
    request.on('end', () => {
      if (size > largest) tooLarge()
      else resolve((parts === undefined ? first : Buffer.concat(parts)) ?? NOTHING)
    })
    request.on('close', () => {
      if (!request.readableEnded) reject(new BadRequest('The body was broken off.'))
    })
  })
}

/** @throws Refusal 413 or 415 as `readBytes`, BadRequest saying what is wrong */
export async function readJson(request: IncomingMessage, largest: number): Promise<unknown> {
  const bytes = await readBytes(request, largest)
  // A byte that is replaced by U+FFFD would give several keys one bucket.
  if (!isUtf8(bytes)) throw notUtf8(bytes)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : withoutExcerpt(why)}.`)
  }
}

function notUtf8(bytes: Uint8Array): BadRequest {
  const at = firstWrongByte(bytes) ?? 0
  return new BadRequest(`The body is not UTF-8: byte 0x${(bytes[at] ?? 0).toString(16).padStart(2, '0')} at offset ${at}.`)
}

/** An encoded body is not decoded: a few bytes could become very many. */
function refuseEncoded({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || /^[ \t]*(?:identity[ \t]*)?$/i.test(encoding)) return
  const detail = `The body has the content encoding ${JSON.stringify(encoding.slice(0, 60))}; expected none.`
  throw new Refusal(415, 'Unsupported Media Type', detail, {}, [['Accept-Encoding', 'identity']])
}

/** The reader of JSON quotes what it read, and keys and addresses are in it. */
function withoutExcerpt(why: string): string {
  return why.replace(/(?:, |^)(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '') || 'it is no value'
}
