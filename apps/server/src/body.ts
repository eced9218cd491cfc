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
    let text: Buffer | undefined
    let parts: Buffer[] | undefined
    let size = 0
    const settle = (): void => void request.off('data', take).off('end', end).off('close', broken).off('error', broken)
    const tooLarge = (headers: HeaderList = []): void => {
      settle()
      reject(new BadRequest(`The body is larger than ${largest} bytes.`, {}, headers))
    }
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size > LONGEST_DRAIN) tooLarge([['Connection', 'close']])
      else if (size > largest) [text, parts] = [undefined, undefined]
      else if (text === undefined) text = chunk
      else (parts ??= [text]).push(chunk)
    }
    const end = (): void => {
      if (size > largest) return tooLarge()
      settle()
      resolve(parts === undefined ? (text?.toString('utf8') ?? '') : Buffer.concat(parts).toString('utf8'))
    }
    const broken = (): void => {
      settle()
      reject(new BadRequest('The body was broken off.'))
    }
    request.on('data', take).on('end', end).on('close', broken).on('error', broken)
  })
}

/** @throws BadRequest saying what is wrong */
export async function readJson(request: IncomingMessage, largest: number): Promise<unknown> {
  const text = await readText(request, largest)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : why}.`)
  }
}
