import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** How far the reader of a stream has come, and since when. */
interface Progress {
  readonly read: number
  readonly since: number
}

/**
 * Finds connections whose client does not read its answer: a whole answer must be read within `readMs` of its end, and a stream, which
 * has none, must go on being read where something waits for its reader.
 * @param underWay the answers of each connection in order; only the first of them is being read
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
