import { bursts } from './bursts.ts'
import { orderedInput } from '../ordered-input.ts'
import { flood, press } from './loads.ts'
import { weigh } from './weigh.ts'
import type { WorkerOrder } from './worker-order.ts'

/** A process that opens any limiter and puts a load on it. It sends a message when it is ready, then answers each order. */
await orderedInput()
process.on('message', (order: WorkerOrder) => void obey(order))
process.send?.('ready')

async function obey(order: WorkerOrder): Promise<void> {
  process.send?.(await answerTo(order))
}

function answerTo(order: WorkerOrder): Promise<unknown> {
  switch (order.what) {
    case 'flood':
      return flood(order)
    case 'press':
      return press(order)
    case 'bursts':
      return bursts(order)
    case 'weigh':
      return weigh(order)
  }
}
