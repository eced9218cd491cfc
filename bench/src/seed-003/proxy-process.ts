import { connect, createServer, type Socket } from 'node:net'
import { orderedInput } from '../ordered-input.ts'
import { xorshift32 } from '../random-order.ts'
import { quantileOf, sorted } from '../result/statistics.ts'
import { DelayLine } from './delay-line.ts'
import type { ProxyInput, ProxyReport } from './proxy.ts'

/**
 * A network between clients and the server, in a process of its own: it sends its port over the channel, then answers the order `report`.
 * Bytes of one connection keep their order, those of different connections overtake each other.
 */
const { port, delayMs, seed } = (await orderedInput()) as ProxyInput
const draw = xorshift32(seed)
const lags: number[] = []

function forward(from: Socket, to: Socket): void {
  const line = new DelayLine<Buffer | null>({
    delay: () => (delayMs / 2) * (0.5 + draw() / 2 ** 32),
    now: () => performance.now(),
    after: (ms, run) => void setTimeout(run, ms),
    deliver: (bytes) => void (bytes === null ? to.end() : to.write(bytes)),
    onLag: (ms) => void lags.push(ms),
  })
  from.on('data', (bytes) => (delayMs === 0 ? void to.write(bytes) : line.push(bytes)))
  from.on('end', () => (delayMs === 0 ? void to.end() : line.push(null)))
  // A connection that one side has lost ends on the other side, too.
  from.on('error', () => to.destroy())
}

const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  const upstream = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  forward(client, upstream)
  forward(upstream, client)
})

process.on('message', () => {
  const report: ProxyReport = { lagP99Ms: lags.length === 0 ? 0 : quantileOf(sorted(lags), 0.99) }
  process.send?.(report)
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : undefined)
})
