import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const CHECK_MS = 250
/** The responses of each connection in order; only the first of them is being read. */
export type UnderWay = ReadonlyMap<Duplex, readonly ServerResponse[]>

/**
 * Closes connections whose client does not read its response. A client must have read a whole response `readMs` milliseconds after the
 * response ended. The client of a stream, which does not end, must read something every `readMs` while data is waiting.
 */
export function closeSlowReaders(server: Server, underWay: UnderWay, readMs: number): void {
  /**
   * How many bytes of a response the client has read, and since when the number is the same. Once the response has ended, the number is
   * infinite, so it stays the same: the time counts from the end.
   */
  const progress = new WeakMap<ServerResponse, { readonly read: number; readonly since: number }>()
  const isSlow = (response: ServerResponse, socket: Duplex, now: number): boolean => {
    if (!response.headersSent) return false
    const { writableEnded: ended } = response
    const { bytesWritten, writableLength } = socket as Socket
    const read = ended ? Infinity : bytesWritten - writableLength
    const before = progress.get(response)
    if (before?.read === read && (ended || writableLength > 0)) return now - before.since >= readMs
    progress.set(response, { read, since: now })
    return false
  }
  const check = (): void => {
    const now = performance.now()
    for (const [socket, [first]] of underWay) if (first !== undefined && isSlow(first, socket, now)) socket.destroy()
  }
  const checking = setInterval(check, Math.min(CHECK_MS, readMs)).unref()
  server.once('close', () => clearInterval(checking))
}
