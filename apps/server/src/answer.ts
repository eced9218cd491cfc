import type { IncomingMessage, ServerResponse } from 'node:http'

/** Largest body of a question to the API, in bytes. */
const LARGEST_BODY = 65_536
/** A body longer than this is not read to its end just to keep the connection. */
const LONGEST_DRAIN = 16_777_216

export class BadRequest extends Error {}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  send(response, status, 'application/json', `${JSON.stringify(body)}\n`)
}

/** A problem body (RFC 9457) for a question that is none; quotas have their own types. */
export function sendProblem(response: ServerResponse, status: number, title: string, detail: string): void {
  send(response, status, 'application/problem+json', `${JSON.stringify({ type: 'about:blank', title, status, detail })}\n`)
}

export function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.statusCode = status
  response.setHeader('Content-Type', type)
  response.setHeader('Cache-Control', 'no-store')
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}

/**
 * The body as JSON. One that is too long is read on and thrown away, so that the connection survives the refusal.
 * @throws BadRequest saying what is wrong
 */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= LARGEST_BODY) chunks.push(chunk)
    if (size > LONGEST_DRAIN) break
  }
  if (size > LARGEST_BODY) throw new BadRequest(`The body is larger than ${LARGEST_BODY} bytes.`)
  const text = Buffer.concat(chunks).toString('utf8')
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BadRequest(`The body is not JSON: ${text === '' ? 'it is empty' : why}.`, { cause })
  }
}
