import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const CHECK_MS = 250
/** The responses of each connection in order; only the first of them is being read. */
export type UnderWay = ReadonlyMap<Duplex, readonly ServerResponse[]>

/**
 * Closes connections whose client does not read its response. A client must read a whole response within `readMs` of its end. A stream has
 * no end, so its client must keep reading while data is waiting.
 */
export function closeSlowReaders(server: Server, underWay: UnderWay, readMs: number): void {
  /** How many bytes of a response the client has read, and since when; of an ended one, when its end was noticed. */
  const progress = new WeakMap<ServerResponse, { readonly read: number; readonly since: number }>()
  const isSlow = (response: ServerResponse, socket: Duplex, now: number): boolean => {
    if (!response.headersSent) return false
    const read = response.writableEnded ? Number.POSITIVE_INFINITY : (socket as Socket).bytesWritten - socket.writableLength
    const before = progress.get(response)
    if (before?.read === read && (response.writableEnded || socket.writableLength > 0)) return now - before.since >= readMs
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
