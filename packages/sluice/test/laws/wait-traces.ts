import { expect } from 'vitest'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { scopeOf } from '../../src/keys/encode.ts'
import type { Call, CallGroup, Change, Store } from '../../src/stores/store.ts'
import { seeded } from '../../src/testing/random.ts'
import { decided } from '../../src/testing/store-verbs.ts'
import { TOKEN } from './oracles/oracle.ts'
import { type Turn, type WaitAnswer, WaitOracle } from './oracles/waits.ts'

const S = 1_000_000
const START = 1_763_692_800_123_456
/** The most groups of one store call. */
const MAX_LIST = 8

const BUCKETS = [
  { rate: '1/s', burst: 1, micro: TOKEN, per: 1_000_000n },
  { rate: '7/3s', burst: 4, micro: 7n * TOKEN, per: 3_000_000n },
  { rate: '10/s', burst: 9, micro: 10n * TOKEN, per: 1_000_000n },
  { rate: '333/7s', burst: 20, micro: 333n * TOKEN, per: 7_000_000n },
  { rate: '100/min', burst: 3, micro: 100n * TOKEN, per: 60_000_000n },
].map(({ rate, burst, ...facts }) => ({
  limit: tokenBucket({ rate, burst }),
  oracle: () => new WaitOracle({ ...facts, burst: BigInt(burst) * TOKEN }),
}))

interface Waiting {
  readonly index: number
  readonly call: Call
  readonly turn: Turn
  readonly after: unknown
}

/**
 * Makes random calls on a store, and the same on oracles, which are independent exact computations. There are calls that may be charged
 * some seconds before their tokens are there, plain checks, and callers that leave. At times the clock is set back. Compares every outcome,
 * wait and view.
 * @param back the most microseconds by which the clock is set back. It is 0 for a store that drops expired states at once: a bucket that
 * was full before the step would not be full after it
 * @returns how often each kind of event was met
 */
export async function followWaits(
  store: Store,
  decisions: number,
  seed: number,
  { prefix, back }: { readonly prefix: string; readonly back: number },
): Promise<ReadonlyMap<string, number>> {
  const random = seeded(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const met = new Map<string, number>()
  const meet = (event: string): void => void met.set(event, (met.get(event) ?? 0) + 1)
  const keys = Array.from({ length: 3 }, (_, key) =>
    BUCKETS.map(({ limit, oracle }, index) => ({
      oracle: oracle(),
      id: { scope: scopeOf('s', `${prefix}${index}`, limit.algorithm.tag), key: `k${key}` },
      limit,
    })),
  ).flat()
  let waiting: Waiting[] = []
  let now = START
  let made = 0

  const decide = async (): Promise<void> => {
    const list = Array.from({ length: 1 + pick(MAX_LIST) }, () => {
      const index = pick(keys.length)
      const { id, limit, oracle } = keys[index] as (typeof keys)[number]
      const cost = BigInt(1 + pick(2 * limit.capacity + 2)) * (TOKEN / 2n)
      const call: Call = { id, limit, cost: Number(cost), phase: 0 }
      const most = pick(4) === 0 ? 0 : 1 + pick(6 * S)
      const group: CallGroup = most === 0 ? { calls: [call] } : { calls: [call], options: { maxWait: most } }
      return { index, call, group, answer: oracle.decide(BigInt(now), cost, BigInt(most)) }
    })
    const verdicts = await store.decide(
      list.map(({ group }) => group),
      { now },
    )
    for (const [order, { index, call, answer }] of list.entries()) {
      made += 1
      const { outcome, calls } = decided(verdicts[order])
      const { retryAfter, remaining, replenishAfter, resetAfter, after } = calls[0] as (typeof calls)[number]
      const found = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
      if (!isSame(found, answer)) expect([made, found]).toEqual([made, answer])
      meet(answer.outcome === 'allowed' && answer.retryAfter > 0 ? 'waits' : answer.outcome)
      if (answer.turn !== undefined) waiting.push({ index, call, turn: answer.turn, after })
    }
  }
  const leave = async (): Promise<void> => {
    const [gone] = waiting.splice(pick(waiting.length), 1) as [Waiting]
    const { index, call, turn, after } = gone
    keys[index]?.oracle.leave(BigInt(now), turn)
    const change: Change = { kind: 'leave', call, after }
    await store.change([change], { now })
    meet('leaves')
  }
  const isDone = (): boolean => made >= decisions
  while (!isDone()) {
    now += pick(20) === 0 ? -pick(back) : pick(3) * pick(600_000)
    if (pick(4) === 0 && waiting.length > 0) await leave()
    else await decide()
    if (waiting.length > 40) waiting = waiting.slice(20)
  }
  return met
}

function isSame(found: Omit<WaitAnswer, 'turn'>, answer: WaitAnswer): boolean {
  return (
    found.outcome === answer.outcome &&
    found.retryAfter === answer.retryAfter &&
    found.remaining === answer.remaining &&
    found.replenishAfter === answer.replenishAfter &&
    found.resetAfter === answer.resetAfter
  )
}
