import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const CHECK_MS = 250
/** In order; only the first response of a connection is being read. */
export type UnderWay = ReadonlyMap<Duplex, readonly ServerResponse[]>

/**
 * A client must have read a whole response `readMs` milliseconds after its end. The client of an endless stream must read something every
 * `readMs` while data is waiting.
 */
export function closeSlowReaders(server: Server, underWay: UnderWay, readMs: number): void {
  /**
   * Bytes that the client has read, and since when that number is the same. After the response's end the number is Infinity, so it stays
   * the same.
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
