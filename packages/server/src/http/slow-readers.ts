import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How many bytes of a stream the client has read, and since when. */
interface Progress {
  readonly read: number
  readonly since: number
}

/**
 * Finds connections whose client does not read its response. A client must read a whole response within `readMs` of its end. A stream has
 * no end, so its client must keep reading while data is waiting.
 * @param underWay the responses of each connection in order; only the first of them is being read
 */
export function slowReaders(underWay: ReadonlyMap<Duplex, readonly ServerResponse[]>, readMs: number): (now: number) => Duplex[] {
  const ended = new WeakMap<ServerResponse, number>()
  const streams = new WeakMap<ServerResponse, Progress>()
  const isSlow = (answer: ServerResponse, socket: Duplex, now: number): boolean => {
    if (!answer.headersSent) return false
    if (answer.writableEnded) {
      const since = ended.get(answer) ?? now
      ended.set(answer, since)
      return now - since >= readMs
    }
    const read = (socket as Socket).bytesWritten - socket.writableLength
    const before = streams.get(answer)
    if (before?.read === read && socket.writableLength > 0) return now - before.since >= readMs
    streams.set(answer, { read, since: now })
    return false
  }
  return (now) => [...underWay].flatMap(([socket, [first]]) => (first !== undefined && isSlow(first, socket, now) ? [socket] : []))
}
