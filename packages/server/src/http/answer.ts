import { type ServerResponse, STATUS_CODES } from 'node:http'
import { LimiterError } from 'sluice'
import { type HeaderList, PROBLEM_TYPE } from 'sluice/http'

export type Members = Readonly<Record<string, unknown>>

/** Ends a request with a problem body (RFC 9457). */
export class Refusal extends Error {
  readonly status: number
  readonly more: Members
  readonly headers: HeaderList

  constructor(status: number, detail: string, more: Members = {}, headers: HeaderList = []) {
    super(detail)
    this.status = status
    this.more = more
    this.headers = headers
  }
}

/** A mistake of the caller. */
export class BadRequest extends Refusal {
  constructor(detail: string, more: Members = {}) {
    super(400, detail, more)
  }
}

export const JSON_TYPE = 'application/json'

export function sendJson(response: ServerResponse, status: number, body: unknown, headers?: HeaderList): void {
  send(response, status, JSON_TYPE, `${JSON.stringify(body)}\n`, headers)
}

/** As in RFC 9110; Node.js has an older name for 413. */
export function titleOf(status: number): string {
  return status === 413 ? 'Content Too Large' : (STATUS_CODES[status] ?? '')
}

function sendProblem(response: ServerResponse, { status, message, more, headers }: Refusal): void {
  const body = { type: 'about:blank', title: titleOf(status), status, detail: message, ...more }
  send(response, status, PROBLEM_TYPE, `${JSON.stringify(body)}\n`, headers)
}

export function send(response: ServerResponse, status: number, type: string, body: string, headers?: HeaderList): void {
  const written = ['Content-Type', type, 'Cache-Control', 'no-store', 'Content-Length', String(Buffer.byteLength(body))]
  for (const [name, value] of headers ?? []) if (name !== 'Cache-Control') written.push(name, value)
  response.writeHead(status, written)
  response.end(body)
}

export function refusalOf({ code, message }: LimiterError, more: Members = {}): Refusal {
  return code === 'UNKNOWN_RULE' ? new Refusal(404, message, more) : new BadRequest(message, more)
}

/** @param unexpected called with an error that gets 500 */
export function sendError(response: ServerResponse, error: unknown, unexpected: (error: unknown) => void = () => {}): void {
  // The client has left, so nobody reads an answer.
  if (response.headersSent || response.destroyed || response.socket?.destroyed === true) return void response.destroy()
  if (error instanceof Refusal) return sendProblem(response, error)
  if (error instanceof LimiterError) return sendProblem(response, refusalOf(error))
  unexpected(error)
  sendProblem(response, new Refusal(500, 'The request could not be answered.'))
}
