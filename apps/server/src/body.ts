import type { IncomingMessage } from 'node:http'
import type { HeaderList } from 'sluice/http'
import { BadRequest } from './answer.ts'

/** A body longer than this is not read to its end just to keep the connection. */
const LONGEST_DRAIN = 16_777_216

/**
 * The body as text. One that is too long is read on and thrown away, so that the connection survives the refusal.
 * @param largest in bytes
 * @throws BadRequest for one that is larger, or broken off
 */
export function readText(request: IncomingMessage, largest: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined
    let parts: Buffer[] | undefined
    let size = 0
    const tooLarge = (headers: HeaderList = []): void => reject(new BadRequest(`The body is larger than ${largest} bytes.`, {}, headers))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size > largest) {
        first = undefined
        parts = undefined
        if (size <= LONGEST_DRAIN) return
        request.off('data', take)
        tooLarge([['Connection', 'close']])
      } else if (first === undefined) first = chunk
      else (parts ??= [first]).push(chunk)
    }
    request.on('data', take)
    request.on('end', () => {
      if (size > largest) tooLarge()
      else resolve((parts === undefined ? first : Buffer.concat(parts))?.toString('utf8') ?? '')
    })
    request.on('close', () => {
      if (!request.readableEnded) reject(new BadRequest('The body was broken off.'))
    })
  })
}

/** @throws BadRequest saying what is wrong */
export async function readJson(request: IncomingMessage, largest: number): Promise<unknown> {
  const text = await readText(request, largest)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : withoutExcerpt(why)}.`)
  }
}

/** The reader of JSON quotes what it read, and keys and addresses are in it. */
function withoutExcerpt(why: string): string {
  return why.replace(/(?:, |^)(?:\.{3})?".*"(?:\.{3})? is not valid JSON$/s, '') || 'it is no value'
}
