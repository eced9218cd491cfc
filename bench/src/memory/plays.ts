import { waitedMs } from '../machine/waited.ts'
import { randomOrder } from '../random-order.ts'
import { type ContestantName, contestantOf } from './contestants/all.ts'
import type { Decide } from './contestants/contestant.ts'
import { keysOf } from './many-keys.ts'
import type { Scenario } from './scenarios.ts'
import { comparedTokens, grantedBy, type Tape, tapeOf } from './tape.ts'

/**
 * What was granted in all counted batches, compared with an exact limiter. The unit is requests, or for a tape (recorded requests) the
 * tokens of each key.
 */
export interface Verdicts {
  /** Granted by an exact limiter. */
  readonly permitted: number
  /** Granted beyond that. */
  readonly over: number
  /** What an exact limiter would have granted and this contestant did not. */
  readonly under: number
}

/**
 * Plays a batch of requests, and measures its time in nanoseconds. With a tape (recorded requests), each batch has all requests of the
 * tape.
 */
type Play = (calls: number) => Promise<{ readonly wall: number; readonly client: number } & Verdicts>

const ORDER = 2 ** 20
/**
 * Each batch of a tape (recorded requests) has new keys. Limiters with a bound on their keys get room for those of this many batches. The
 * bound itself takes no memory.
 */
const TAPE_BATCHES = 10_000

/** Opens a contestant under a load of `count` keys. */
export function playOf(contestant: ContestantName, scenario: Scenario, count: number): Promise<Play> {
  return scenario.answer === 'mixed' ? taped(contestant, scenario, count) : steady(contestant, scenario, count)
}

/** The time of `work` in nanoseconds: wall time without waits for a processor, and processor time of all threads. */
async function timed<Result>(work: () => Result | Promise<Result>): Promise<{ wall: number; client: number; result: Result }> {
  const [waited, before, started] = [waitedMs(), process.cpuUsage(), performance.now()]
  const result = await work()
  const wall = (performance.now() - started - (waitedMs() - waited)) * 1e6
  const { user, system } = process.cpuUsage(before)
  return { wall, client: (user + system) * 1e3, result }
}

/** All requests of a run go to one limiter. Each key was called once before. */
async function steady(contestant: ContestantName, { quotas, answer }: Scenario, count: number): Promise<Play> {
  const keys = keysOf(count)
  const { open, awaited = false } = contestantOf(contestant)
  const { decide } = await open(quotas, { keys: count })
  const order = randomOrder(ORDER, count, 0x2545_f491)
  for (const key of keys) await decide(key, 1)
  const walk = awaited ? awaitedWalk(decide, keys, order) : syncWalk(decide, keys, order)
  return async (calls) => {
    const { wall, client, result: allowed } = await timed(() => walk(calls))
    const verdicts =
      answer === 'allowed' ? { permitted: calls, over: 0, under: calls - allowed } : { permitted: 0, over: allowed, under: 0 }
    return { wall, client, ...verdicts }
  }
}

/**
 * Each batch plays the whole tape (recorded requests) with new keys on the same limiter. With a new limiter, each batch would begin with
 * code that is not compiled.
 */
async function taped(contestant: ContestantName, { quotas, costs }: Scenario, count: number): Promise<Play> {
  const { open, awaited = false } = contestantOf(contestant)
  const { decide } = await open(quotas, { keys: count * TAPE_BATCHES })
  const tape = tapeOf(count, quotas[0]?.burst ?? 0, costs)
  const exact = grantedBy(tape, count)
  let first = 0
  return async () => {
    const keys = keysOf(count, first)
    first += count
    const { wall, client, result: granted } = await timed(() => (awaited ? awaitedTape(decide, keys, tape) : syncTape(decide, keys, tape)))
    return { wall, client, ...comparedTokens(granted, exact) }
  }
}

function syncWalk(decide: Decide, keys: readonly string[], order: Uint32Array): (calls: number) => number {
  let at = 0
  return (calls) => {
    let allowed = 0
    for (let call = 0; call < calls; call += 1) {
      if (decide(keys[order[at] as number] as string, 1) === true) allowed += 1
      at = (at + 1) % ORDER
    }
    return allowed
  }
}

function awaitedWalk(decide: Decide, keys: readonly string[], order: Uint32Array): (calls: number) => Promise<number> {
  let at = 0
  return async (calls) => {
    let allowed = 0
    for (let call = 0; call < calls; call += 1) {
      if (await decide(keys[order[at] as number] as string, 1)) allowed += 1
      at = (at + 1) % ORDER
    }
    return allowed
  }
}

/** Plays the tape (recorded requests), and adds up the tokens that each key was granted. */
function syncTape(decide: Decide, keys: readonly string[], { keys: order, costs }: Tape): Int32Array {
  const granted = new Int32Array(keys.length)
  for (let call = 0; call < order.length; call += 1) {
    const [key, cost] = [order[call] as number, costs[call] as number]
    if (decide(keys[key] as string, cost) === true) granted[key] = (granted[key] as number) + cost
  }
  return granted
}

async function awaitedTape(decide: Decide, keys: readonly string[], { keys: order, costs }: Tape): Promise<Int32Array> {
  const granted = new Int32Array(keys.length)
  for (let call = 0; call < order.length; call += 1) {
    const [key, cost] = [order[call] as number, costs[call] as number]
    if (await decide(keys[key] as string, cost)) granted[key] = (granted[key] as number) + cost
  }
  return granted
}
