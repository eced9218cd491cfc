import { expect } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../src/algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../src/algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../src/algorithms/token-bucket.ts'
import { scopeOf } from '../../src/keys/encode.ts'
import type { Call, Store } from '../../src/stores/store.ts'
import { seeded } from '../../src/testing/random.ts'
import { heldGroup, settlementOf } from '../../src/testing/store-suite/held.ts'
import { decided } from '../../src/testing/store-verbs.ts'
import { BucketLedger, type Ledger, LogLedger, type Mark, WindowLedger } from './oracles/ledger.ts'

const [S, TOKEN] = [1_000_000, 1_000_000n]
const START = 1_763_692_800_123_456
const [HOLD, KEPT] = [4 * S, 60 * S]

interface Case {
  readonly name: string
  readonly limit: AnyLimit
  ledger(): Ledger
}

const windows = (limit: number, seconds: number) => ({ limit: BigInt(limit) * TOKEN, window: BigInt(seconds * S) })
const CASES: readonly Case[] = [
  {
    name: 'slow',
    limit: tokenBucket({ rate: '7/3s', burst: 12 }),
    ledger: () => new BucketLedger({ micro: 7n * TOKEN, per: 3_000_000n, burst: 12n * TOKEN }),
  },
  {
    name: 'fast',
    limit: tokenBucket({ rate: '10/s', burst: 9 }),
    ledger: () => new BucketLedger({ micro: 10n * TOKEN, per: 1_000_000n, burst: 9n * TOKEN }),
  },
  { name: 'fixed', limit: fixedWindow({ limit: 10, window: '2s' }), ledger: () => new WindowLedger({ ...windows(10, 2), weigh: false }) },
  {
    name: 'counter',
    limit: slidingWindowCounter({ limit: 10, window: '2s' }),
    ledger: () => new WindowLedger({ ...windows(10, 2), weigh: true }),
  },
  { name: 'log', limit: slidingWindowLog({ limit: 11, window: '3s' }), ledger: () => new LogLedger(windows(11, 3)) },
]

interface Open {
  readonly id: string
  readonly key: number
  readonly chosen: readonly number[]
  readonly marks: readonly Mark[]
  readonly at: number
  readonly held: bigint
  answer?: readonly unknown[] | 'stands'
}

/** Compares two values, and calls `expect` only if they differ, because one `expect` takes a tenth of a millisecond. */
function same(made: number, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) !== JSON.stringify(expected)) expect([made, found]).toEqual([made, expected])
}

/**
 * Makes random holds, settlements and plain checks on a store, and the same on ledgers, which are independent exact computations.
 * Settlements use less or more than was held, or nothing. Some are repeated, late, or of an unknown hold. Compares every outcome, what
 * remains, and every settlement.
 * @returns how many decisions of the store there were, and how often each kind of event was met
 */
export async function followLedgers(store: Store, decisions: number, seed: number, prefix = 't'): Promise<ReadonlyMap<string, number>> {
  const random = seeded(seed)
  const pick = (count: number): number => Math.floor(random() * count)
  const keys = Array.from({ length: 4 }, () => CASES.map((one) => one.ledger()))
  const met = new Map<string, number>()
  const meet = (event: string): void => void met.set(event, (met.get(event) ?? 0) + 1)
  let open: Open[] = []
  let now = START
  let made = 0
  const isDone = (): boolean => made >= decisions

  const callsOf = (key: number, chosen: readonly number[], cost: bigint): Call[] =>
    chosen.map((index) => {
      const { name, limit } = CASES[index] as Case
      return { id: { scope: scopeOf('s', `${prefix}${name}`, limit.algorithm.tag), key: `k${key}` }, limit, cost: Number(cost), phase: 0 }
    })
  const ledgerOf = (key: number, index: number): Ledger => (keys[key] as Ledger[])[index] as Ledger
  const remainingOf = (key: number, index: number): number => {
    const free = ledgerOf(key, index).free(BigInt(now))
    return free < 0n ? 0 : Number(free / TOKEN)
  }
  const decide = async (isHeld: boolean): Promise<void> => {
    const [key, chosen] = [pick(4), CASES.flatMap((_, index) => (pick(2) === 0 ? [index] : []))]
    if (chosen.length === 0) chosen.push(pick(CASES.length))
    const cost = BigInt(1 + pick(20)) * (TOKEN / 2n)
    const id = `${prefix}${(made += 1)}`
    const calls = callsOf(key, chosen, cost)
    const fits = chosen.every((index) => ledgerOf(key, index).free(BigInt(now)) >= cost)
    const possible = chosen.every((index) => cost <= BigInt((CASES[index] as Case).limit.capacity) * TOKEN)
    const [verdict] = await store.decide([isHeld ? heldGroup(calls, id, HOLD) : { calls }], { now })
    const { outcome, calls: views } = decided(verdict)
    same(made, outcome, fits ? 'allowed' : possible ? 'denied' : 'impossible')
    if (fits) {
      const marks = chosen.map((index) => ledgerOf(key, index).charge(BigInt(now), cost))
      if (isHeld) open.push({ id, key, chosen, marks, at: now, held: cost })
    }
    meet(`${isHeld ? 'hold' : 'check'} ${outcome}`)
    same(
      made,
      chosen.map((_, at) => views[at]?.remaining),
      chosen.map((index) => remainingOf(key, index)),
    )
  }
  const settle = async (one: Open): Promise<void> => {
    const { id, key, chosen, marks, at, held } = one
    const actual = pick(6) === 0 ? undefined : BigInt(pick(50)) * (TOKEN / 2n)
    const change = settlementOf(callsOf(key, chosen, held), id, actual === undefined ? undefined : Number(actual))
    const [result] = await store.change([change], { now })
    const report = result?.hold
    if (now >= at + HOLD + KEPT) return void (meet('unknown'), expect(report?.status).toBe('unknown'))
    if (one.answer === undefined && now >= at + HOLD) return void (meet('expired'), expect(report?.status).toBe('expired'))
    expect(report?.status).toBe('settled')
    expect(report?.repeated).toBe(one.answer === undefined ? undefined : true)
    meet(one.answer === undefined ? (actual === undefined ? 'stands' : actual < held ? 'less' : 'more') : 'repeated')
    one.answer ??=
      actual === undefined
        ? chosen.map(() => ({ held: Number(held), charged: Number(held), overage: 0 }))
        : chosen.map((index, order) => {
            const { charged, overage } = ledgerOf(key, index).settle(BigInt(now), marks[order], BigInt(at), held, actual)
            if (overage > 0n) meet('overage')
            if (charged === held && actual < held) meet('nothing back')
            return { held: Number(held), charged: Number(charged), overage: Number(overage) }
          })
    same(made, report?.parts, one.answer)
  }
  while (!isDone()) {
    now += pick(6) === 0 ? pick(2_500_000) : pick(3) * pick(200_000)
    const kind = pick(10)
    const held = open[pick(open.length)]
    if (kind < 4 && held !== undefined) await settle(held)
    else await decide(kind < 8)
    if (open.length > 60) open = open.slice(20)
  }
  return met
}
