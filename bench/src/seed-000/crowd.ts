import { type OrderedProcess, startOrdered } from '../orders.ts'
import type { PartOptions } from '../part.ts'
import type { Bursts, Flood, Press, Sent, Weight, WorkerOrder } from './worker-order.ts'

/** Time in which every worker opens its limiter before a load begins, in milliseconds. */
const LEAD_MS = 400

/** Processes that put load on a server together. */
export interface Crowd {
  readonly size: number
  /** Divides the rate equally among the first `processes` workers. Default: all workers. */
  flood(load: Omit<Flood, 'at'>, processes?: number): Promise<Sent[]>
  /** Each of the first `processes` workers has `load.callers` callers. Default: all workers. */
  press(load: Omit<Press, 'at'>, processes?: number): Promise<Sent[]>
  /** Carries out the orders, as many at the same time as there are workers. */
  bursts(orders: readonly Extract<WorkerOrder, { what: 'bursts' }>[]): Promise<Bursts[]>
  weigh(order: Extract<WorkerOrder, { what: 'weigh' }>): Promise<Weight>
  end(): void
}

export async function startCrowd(size: number, { atEnd }: Pick<PartOptions, 'atEnd'>): Promise<Crowd> {
  const workers = await Promise.all(Array.from({ length: size }, () => startOrdered('worker-process.js', import.meta.url, {}, { atEnd })))
  const all = async (orders: readonly WorkerOrder[]): Promise<unknown[]> => {
    const found: unknown[] = []
    for (let from = 0; from < orders.length; from += size)
      found.push(
        ...(await Promise.all(orders.slice(from, from + size).map((order, place) => (workers[place] as OrderedProcess).invoke(order)))),
      )
    return found
  }
  return {
    size,
    flood: async (load, processes = size) => {
      const at = Date.now() + LEAD_MS
      const order: WorkerOrder = { what: 'flood', ...load, perSecond: load.perSecond / processes, at }
      return (await all(Array.from({ length: processes }, () => order))) as Sent[]
    },
    press: async (load, processes = size) => {
      const at = Date.now() + LEAD_MS + load.warmUpMs
      return (await all(Array.from({ length: processes }, (): WorkerOrder => ({ what: 'press', ...load, at })))) as Sent[]
    },
    bursts: async (orders) => (await all(orders)) as Bursts[],
    weigh: async (order) => (await all([order]))[0] as Weight,
    end: () => workers.forEach(({ kill }) => kill()),
  }
}
