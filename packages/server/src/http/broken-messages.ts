import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Refusal, sendError, titleOf } from './answer.ts'
import type { UnderWay } from './slow-readers.ts'

/** By Node.js's error codes; 400 for any other. */
const STATUSES: ReadonlyMap<string | undefined, number> = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
])
/** How long a refused client may read the reason, in milliseconds. */
const LINGER_MS = 500
const MAX_SHOWN_LENGTH = 60

/**
 * Refuses messages that are not HTTP, and closes their connections.
 * @param newest the request that each connection sent last, whose body may still be arriving
 */
export function refuseBroken(server: Server, underWay: UnderWay, newest: WeakMap<Duplex, IncomingMessage>): void {
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Destroying the socket would reset the connection, and the client could lose the refusal.
    if (refused.has(socket)) return
    const broken = newest.get(socket)
    const responses = underWay.get(socket) ?? []
    const own = broken?.complete === false ? responses.findIndex(({ req }) => req === broken) : responses.length
    // Too late for a refusal: the broken request was answered, or a response has begun.
    if (!socket.writable || own === -1 || responses.some(({ headersSent }) => headersSent)) return void socket.destroy()
    refused.add(socket)
    const status = STATUSES.get(error.code) ?? 400
    // Earlier requests are answered first, so that the client does not take the refusal for their response.
    void refuse(socket, status, responses.slice(0, own))
  })
}

/** Without this listener Node.js sends 417 with an empty body. */
export function refuseExpectation({ headers: { expect = '' } }: IncomingMessage, response: ServerResponse): void {
  const shown = JSON.stringify(expect.slice(0, MAX_SHOWN_LENGTH))
  sendError(response, new Refusal(417, `Expect is ${shown}; expected 100-continue, or no such header.`))
}

/** Closes the connection even if the client goes on sending. */
async function refuse(socket: Duplex, status: number, before: readonly ServerResponse[]): Promise<void> {
  await Promise.all(before.map((response) => new Promise((resolve) => response.once('close', resolve))))
  if (!socket.writable) return void socket.destroy()
  const title = titleOf(status)
  const body = `${JSON.stringify({ type: 'about:blank', title, status, detail: 'The request is not HTTP that this service can read.' })}\n`
  const head = `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\nCache-Control: no-store`
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}
