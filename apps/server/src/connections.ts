import type { Server, ServerResponse } from 'node:http'
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

/** Watches the answers under way, so that the server can stop without cutting them off, and refuses what is no HTTP. */
export function watchConnections(server: Server): Connections {
  const underWay = new Set<ServerResponse>()
  let draining = false
  // Before the handler, which may answer at once.
  server.prependListener('request', (_request, response) => {
    underWay.add(response)
    response.once('close', () => underWay.delete(response))
    if (draining) response.shouldKeepAlive = false
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const begun = [...underWay].some((response) => response.socket === socket && response.headersSent)
    if (begun || !socket.writable) socket.destroy()
    else refuse(socket, ...(REFUSALS.get(error.code ?? '') ?? [400, 'Bad Request']))
  })
  return {
    async drain(ms) {
      draining = true
      // A connection that is kept for the next request would keep the server.
      for (const response of underWay) response.shouldKeepAlive = false
      const timer = setTimeout(() => server.closeAllConnections(), ms)
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeIdleConnections()
      })
      clearTimeout(timer)
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
