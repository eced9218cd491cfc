import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { seeded } from '../../src/testing/random.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { storeNetwork, TOKEN } from './store-network.ts'

const SECOND = 1_000_000

type Awaitable<T> = T | Promise<T>

/** Regions, and a network between them, as a history uses them. */
export interface HistoryNetwork {
  readonly queue: { readonly length: number }
  readonly cuts: Set<string>
  readonly mostUnits: number
  readonly worst: { readonly a: number; readonly b: number }
  wait(micros: number): void
  call(region: number, cost?: number, cell?: number, policy?: number): Awaitable<number>
  give(region: number, to: number, part: number, cell?: number, policy?: number): Awaitable<boolean>
  read(region: number, peer: number): Awaitable<void>
  deliver(index: number, again: boolean): Awaitable<void>
  lose(region: number): Awaitable<void>
  endEra(region: number, version: number, by: readonly number[]): Awaitable<void>
  round(): Awaitable<void>
  check(): Awaitable<void>
  agree(): Awaitable<boolean>
}

export type MakeNetwork = (
  weights: readonly number[],
  limits: readonly AnyLimit[],
  options: { readonly cells: number; readonly maxCells: number; readonly offsets: readonly number[] },
) => Awaitable<HistoryNetwork>

/** A random history of real stores, audited after each step. Equal seeds give equal histories. */
export async function history(seed: number, make: MakeNetwork = storeNetwork) {
  const random = seeded(seed)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const regions = oneOf([2, 2, 3, 4])
  const bucket = () => tokenBucket({ rate: oneOf(['1/s', '2/s', '10/3s']), burst: oneOf([30, 40, 100]) })
  const limits = random() < 0.3 ? [bucket(), bucket()] : [bucket()]
  const weights = (): number[] =>
    Array.from({ length: regions }, () => oneOf([1, 2, 3])).map((part, _, all) =>
      Math.floor((part * 1000) / all.reduce((sum, one) => sum + one)),
    )
  const cells = oneOf([1, 1, 2])
  const network = await make(weights(), limits, {
    cells,
    maxCells: oneOf([1, 2, 100]),
    offsets: Array.from({ length: regions }, () => below(9) * SECOND),
  })
  const [losses, eras] = [random() < 0.4, random() < 0.5]
  let gifts = 0
  for (let round = 0; round < 3; round += 1) await network.round()
  network.wait(below(200) * SECOND)
  for (let step = 20 + below(50); step > 0; step -= 1) {
    const [one, other] = [below(regions), below(regions)]
    const [cell, policy] = [below(cells), below(limits.length)]
    const kind = random()
    if (kind < 0.12) network.wait(below(60) * SECOND + below(1000))
    else if (kind < 0.32) await network.call(one, random() < 0.5 ? undefined : below(9 * TOKEN) + 1, cell, policy)
    else if (kind < 0.5) gifts += one !== other && (await network.give(one, other, oneOf([1, 0.5, 0.25, 0.01]), cell, policy)) ? 1 : 0
    else if (kind < 0.66 && one !== other) await network.read(one, other)
    else if (kind < 0.86) await network.deliver(below(network.queue.length), random() < 0.2)
    else if (kind < 0.9 && one !== other) network.cuts.add(`${one}>${other}`)
    else if (kind < 0.94) network.cuts.delete(`${one}>${other}`)
    else if (kind < 0.96 && losses) await network.lose(one)
    else if (kind < 0.98 && eras) await network.endEra(one, oneOf([2, 2, 3, 4]), weights())
    else if (kind >= 0.98) await network.round()
    await network.check()
  }
  for (let round = 0; round < 8 && !(await network.agree()); round += 1) await network.round()
  const agreed = await network.agree()
  for (let region = 0; region < regions; region += 1)
    for (let cell = 0; cell < cells; cell += 1) await network.call(region, undefined, cell)
  await network.check()
  const { a, b } = network.worst
  return {
    over: a > 0 || b > 0 || network.mostUnits > 1000,
    a,
    b,
    units: network.mostUnits,
    agreed,
    reached: a === 0,
    gifts,
  }
}
