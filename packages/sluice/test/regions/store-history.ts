import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { seeded } from '../../src/testing/random.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import type { HeldTokens } from './held-tokens.ts'
import { storeNetwork, TOKEN } from './store-network.ts'

const SECOND = 1_000_000

type Awaitable<T> = T | Promise<T>

/** The regions of a history, and a network between them. */
export interface HistoryNetwork extends HeldTokens {
  readonly queue: { readonly length: number }
  readonly cuts: Set<string>
  readonly mostUnits: number
  readonly worst: { readonly a: number; readonly b: number }
  wait(micros: number): void
  /** States that are expired disappear. */
  forget(): Awaitable<void>
  call(region: number, cost?: number, cell?: number, policy?: number): Awaitable<number>
  give(region: number, to: number, part: number, cell?: number, policy?: number): Awaitable<boolean>
  /** Sends units as to a peer whose request names a limit. */
  lend(region: number, to: number, part: number, cell: number, policy: number): Awaitable<boolean>
  /** Every region calls every cell by one limit. From now on this is the only limit. */
  settle(policy: number): Awaitable<void>
  read(region: number, peer: number): Awaitable<void>
  deliver(index: number, again: boolean): Awaitable<void>
  lose(region: number): Awaitable<void>
  endEra(region: number, version: number, by: readonly number[]): Awaitable<void>
  round(): Awaitable<void>
  check(): Awaitable<void>
  agree(): Awaitable<boolean>
}

export interface NetworkOptions {
  readonly cells: number
  readonly maxCells: number
  readonly offsets: readonly number[]
  /** The limits of all cells but the first. They are like overrides: other limits in the same scope. */
  readonly others?: readonly AnyLimit[]
}

export type MakeNetwork = (weights: readonly number[], limits: readonly AnyLimit[], options: NetworkOptions) => Awaitable<HistoryNetwork>

/**
 * What a history does with holds after each step. It is drawn by random numbers of its own, so that the rest of a history does not depend
 * on it.
 */
function holding(network: HistoryNetwork, seed: number) {
  const random = seeded(seed + 0x401d)
  const open: { readonly hold: number; readonly region: number; readonly policy: number }[] = []
  const found = { held: 0, back: 0, nothing: 0 }
  return {
    found,
    async step(region: number, cell: number, policy: number): Promise<void> {
      const kind = random()
      if (kind < 0.4) {
        const hold = await network.reserve(
          region,
          1 + Math.floor(random() ** 2 * 20 * TOKEN),
          cell,
          policy,
          Math.ceil((5 + random() * 200) * SECOND),
        )
        if (hold === undefined) return
        found.held += 1
        open.push({ hold, region, policy })
      }
      const place = Math.floor(random() * open.length)
      const one = open[place]
      if (one === undefined) return
      // Some are settled again: nothing goes back a second time.
      if (kind >= 0.4 && kind < 0.8) {
        const { back } = await network.settleHold(one.region, one.hold, random() < 0.5 ? 0 : random(), policy)
        found[back > 0 ? 'back' : 'nothing'] += 1
        if (random() < 0.8) open.splice(place, 1)
      } else if (kind < 0.85) await network.extend(one.region, one.hold, policy, Math.ceil(random() * 100 * SECOND))
    },
  }
}

/**
 * A random history of real stores, audited after each step. Equal seeds give equal histories.
 * @param holds whether the history also reserves and settles tokens
 */
export async function history(seed: number, make: MakeNetwork = storeNetwork, holds = false) {
  const random = seeded(seed)
  const below = (bound: number): number => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T
  const regions = oneOf([2, 2, 3, 4])
  // A fifth of the histories have limits that are too small to be divided among the regions. In some of these, the second limit is divided.
  const undivided = seed % 5 === 0
  const burstOf = (burst: number, index: number): number =>
    undivided && (index === 0 || seed % 3 > 0) ? 1 + ((burst / 10) % (regions - 1)) : burst
  const bucket = (index: number) => tokenBucket({ rate: oneOf(['1/s', '2/s', '10/3s']), burst: burstOf(oneOf([30, 40, 100]), index) })
  const costOf = (most: number): number => (undivided ? Math.floor(most / 9) : most) + 1
  const partOf = (part: number): number => (undivided ? 1 : part)
  const limits = random() < 0.5 ? [bucket(0), bucket(1)] : [bucket(0)]
  const weights = (): number[] =>
    Array.from({ length: regions }, () => oneOf([1, 2, 3])).map((part, _, all) =>
      Math.floor((part * 1000) / all.reduce((sum, one) => sum + one)),
    )
  const cells = oneOf([1, 1, 2])
  const network = await make(weights(), limits, {
    cells,
    others: random() < 0.5 ? limits.map((_, index) => bucket(index)) : limits,
    maxCells: oneOf([1, 2, 100]),
    offsets: Array.from({ length: regions }, () => below(9) * SECOND),
  })
  const [losses, eras] = [random() < 0.4, random() < 0.5]
  const held = holding(network, seed)
  let gifts = 0
  // A rollout is settled when every state has adopted the new limit. Messages that name the old limit may still be on their way then.
  let settled: number | undefined
  for (let round = 0; round < 3; round += 1) await network.round()
  network.wait(below(200) * SECOND)
  for (let step = 20 + below(50); step > 0; step -= 1) {
    const [one, other] = [below(regions), below(regions)]
    const [cell, named] = [below(cells), below(limits.length)]
    const policy = settled ?? named
    const kind = random()
    if (limits.length > 1 && settled === undefined && random() < 0.08) await network.settle((settled = named))
    if (kind < 0.12) {
      network.wait(below(60) * SECOND + below(1000))
      if (seed % 2 === 0) await network.forget()
    } else if (kind < 0.32) await network.call(one, random() < 0.5 ? undefined : costOf(below(9 * TOKEN)), cell, policy)
    else if (kind < 0.45)
      gifts += one !== other && (await network.give(one, other, partOf(oneOf([1, 0.5, 0.25, 0.01])), cell, policy)) ? 1 : 0
    else if (kind < 0.5)
      gifts += one !== other && (await network.lend(one, other, partOf(oneOf([1, 0.5, 0.25, 0.01])), cell, named)) ? 1 : 0
    else if (kind < 0.66 && one !== other) await network.read(one, other)
    else if (kind < 0.86) await network.deliver(below(network.queue.length), random() < 0.2)
    else if (kind < 0.9 && one !== other) network.cuts.add(`${one}>${other}`)
    else if (kind < 0.94) network.cuts.delete(`${one}>${other}`)
    else if (kind < 0.96 && losses) await network.lose(one)
    else if (kind < 0.98 && eras) await network.endEra(one, oneOf([2, 2, 3, 4]), weights())
    else if (kind >= 0.98) await network.round()
    await network.check()
    if (holds) {
      await held.step(one, cell, policy)
      await network.check()
    }
  }
  for (let round = 0; round < 8 && !(await network.agree()); round += 1) await network.round()
  const agreed = await network.agree()
  for (let region = 0; region < regions; region += 1)
    for (let cell = 0; cell < cells; cell += 1) await network.call(region, undefined, cell, settled)
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
    ...held.found,
  }
}
