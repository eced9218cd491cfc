import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

export type Network =
  /** Each answer is delayed by `delayMs` milliseconds. */
  | { readonly passes: 'all'; readonly delayMs: number }
  /** A server that hangs, or a network that swallows packets. */
  | { readonly passes: 'nothing' }
  /** A server that is down: connections are reset, new ones refused. */
  | { readonly passes: 'no-connection' }

export interface FaultProxy {
  readonly port: number
  set(network: Network): void
  close(): Promise<void>
}

/** Listens on a free port of the loopback address. */
export async function openFaultProxy(target: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let network: Network = { passes: 'all', delayMs: 0 }
  const end = (): void => pairs.forEach((pair) => pair.forEach((socket) => socket.resetAndDestroy()))
  const server = createServer((client) => {
    if (network.passes === 'no-connection') return void client.resetAndDestroy()
    const upstream = connect(target)
    const pair = [client, upstream] as const
    pairs.add(pair)
    for (const socket of pair) {
      socket.setNoDelay(true)
      // After an error, the close event below ends the other connection.
      socket.on('error', () => {})
      socket.once('close', () => {
        pairs.delete(pair)
        for (const other of pair) other.destroy()
      })
    }
    relay(client, upstream, () => ({ ...network, delayMs: 0 }))
    relay(upstream, client, () => network)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      // Connections from which bytes were swallowed cannot be used again.
      if (network.passes === 'nothing' || next.passes === 'no-connection') end()
      network = next
    },
    async close() {
      end()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Forwards chunks in order, each after its delay. */
function relay(from: Socket, to: Socket, network: () => Network): void {
  let last: Promise<unknown> = Promise.resolve()
  from.on('data', (chunk: Uint8Array) => {
    const { passes, ...now } = network()
    if (passes !== 'all') return
    const delayMs = 'delayMs' in now ? now.delayMs : 0
    if (delayMs === 0) return void (last = last.then(() => to.write(chunk)))
    const due = pause(delayMs)
    last = last.then(() => due).then(() => to.write(chunk))
  })
}
