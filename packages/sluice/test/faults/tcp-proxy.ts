import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'

/** What the proxy does as a bad network would. A test may change these at any time. A change applies to bytes that arrive after it. */
export interface Faults {
  /** The least and the most milliseconds by which a chunk is delayed, for both directions together. Chunks stay in order. */
  delayMs: readonly [number, number]
  /** Replies pass a byte at a time. */
  sliced: boolean
  /** The share of reply chunks of which only a part passes, before the connection is cut. */
  cut: number
  /** The share of replies that never arrive. The server has executed the request, and then the connection is cut. */
  lost: number
}

export interface TcpProxy {
  readonly port: number
  readonly faults: Faults
  /** Connections made so far. */
  readonly connections: number
  /** Ends every connection at once. */
  reset(): void
  /** From now on the proxy passes nothing and reports nothing. Connections stay open, but these and all new ones stay dead. */
  blackhole(): void
  /** Connections made from now on work. */
  heal(): void
  stop(): Promise<void>
}

/** A TCP proxy on a free port of the loopback address. */
export async function tcpProxy(target: number, random: () => number): Promise<TcpProxy> {
  const faults: Faults = { delayMs: [0, 0], sliced: false, cut: 0, lost: 0 }
  const sockets = new Set<Socket>()
  let dead = new Set<Socket>()
  let dark = false
  let connections = 0

  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.setNoDelay(true)
    // When one of the two sockets of a connection ends, the other is ended too. Without a listener, its error would end the process.
    socket.on('error', () => {})
    socket.once('close', () => {
      sockets.delete(socket)
      dead.delete(socket)
    })
  }
  const server = createServer((client) => {
    connections += 1
    const upstream = connect(target, '127.0.0.1')
    keep(client)
    keep(upstream)
    if (dark) dead.add(client)
    const both = (end: (socket: Socket) => void): void => [client, upstream].forEach(end)
    const delay = (): number => (faults.delayMs[0] + random() * (faults.delayMs[1] - faults.delayMs[0])) / 2
    relay(client, delay, async (chunk) => {
      if (!dead.has(client)) upstream.write(chunk)
    })
    relay(upstream, delay, async (chunk) => {
      if (dead.has(client)) return
      if (random() < faults.lost) return both((socket) => socket.destroy())
      if (random() < faults.cut) {
        client.end(chunk.subarray(0, Math.floor(random() * chunk.length)))
        return void upstream.destroy()
      }
      if (!faults.sliced) return void client.write(chunk)
      for (const byte of chunk) {
        client.write(Uint8Array.of(byte))
        await turn()
      }
    })
    // A dead connection ends without the other side hearing of it.
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => (dead.has(client) ? undefined : client.destroy()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    faults,
    get connections() {
      return connections
    },
    reset: () => sockets.forEach((socket) => socket.resetAndDestroy()),
    blackhole: () => {
      dark = true
      dead = new Set(sockets)
    },
    heal: () => (dark = false),
    stop: async () => {
      sockets.forEach((socket) => socket.destroy())
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passes on what a socket sends, in order, each chunk once its delay is over. */
function relay(from: Socket, delay: () => number, pass: (chunk: Uint8Array) => Promise<void>): void {
  let last = Promise.resolve()
  let due = 0
  from.on('data', (chunk: Uint8Array) => {
    const ms = delay()
    due = Math.max(due, performance.now() + ms)
    const waited = ms === 0 ? undefined : pause(due - performance.now())
    last = last.then(() => waited).then(() => pass(chunk))
  })
}
