import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export interface Connections {
  /** Takes no more connections, lets answers under way finish for at most that many milliseconds, then cuts the rest off. */
  drain(ms: number): Promise<void>
}

/** What node calls a message that cannot be read; everything else is a bad request. */
const REFUSALS: ReadonlyMap<string, readonly [status: number, title: string]> = new Map([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'Content Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
])

/** What a client has already sent is in the machine's buffers, or on its way through the loop, for this long at most. */
const SETTLE_MS = 100
const LOOK_EVERY_MS = 20

/** Watches the answers under way, so that the server can stop without cutting them off, and refuses what is no HTTP. */
export function watchConnections(server: Server): Connections {
  const sockets = new Set<Socket>()
  // An answer is under way until its last byte is handed over.
  const underWay = new Map<ServerResponse, Duplex>()
  let draining = false
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  // Before the handler, which may answer at once.
  server.prependListener('request', (request, response) => {
    underWay.set(response, request.socket)
    response.once('close', () => underWay.delete(response))
    if (draining) response.shouldKeepAlive = false
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const last = [...underWay].filter(([, other]) => other === socket).at(-1)?.[0]
    // What follows a good request must not be answered in its place.
    if (last !== undefined && !last.headersSent) last.once('close', () => socket.destroy())
    else if (last !== undefined) socket.destroy()
    else if (socket.writable) refuse(socket, ...(REFUSALS.get(error.code ?? '') ?? [400, 'Bad Request']))
    else socket.destroy()
  })
  const endIdle = (): void => {
    const busy = new Set(underWay.values())
    for (const socket of sockets) if (!busy.has(socket) && socket.writableLength === 0) socket.end()
  }
  return {
    async drain(ms) {
      draining = true
      // A connection that is kept for the next request would keep the server.
      for (const response of underWay.keys()) response.shouldKeepAlive = false
      const last = setTimeout(() => server.closeAllConnections(), ms)
      // Whoever had written before the signal is taken in and answered; whoever comes later finds the port closed.
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
      const looking = setInterval(endIdle, LOOK_EVERY_MS)
      // Of the HTTP server's own close only the end of listening is wanted: it would cut off requests that it has not read yet.
      await new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
      clearTimeout(last)
      clearInterval(looking)
    },
  }
}

function refuse(socket: Duplex, status: number, title: string): void {
  const body = `${JSON.stringify({ type: 'about:blank', title, status, detail: 'The request is no HTTP that this service can read.' })}\n`
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
