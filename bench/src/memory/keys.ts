import type { Timed } from '../interleave.ts'
import { amount } from '../render/cells.ts'
import type { Goal, Reading, Unit } from '../result/reading.ts'
import { figure } from '../render/columns.ts'
import { median, ratiosOf } from '../result/statistics.ts'
import { inChild } from '../in-child.ts'
import type { HoldInput, HoldResult } from './keys-hold.ts'
import type { KeysInput, KeysResult } from './keys-lanes.ts'
import type { Holder } from './many-keys.ts'
import type { Part, PartOptions } from '../part.ts'
import { ALLOWED_KEYS, DENIED, type Profile, wrongAnswersOf } from '../profiles.ts'

const KEYS = { quick: 250_000, full: 1_000_000 } as const
const RUNS = { quick: 1, full: 2 } as const
const HOLDERS: readonly Holder[] = ['sluice', 'map', 'lookup', 'bare']
const SPEED_GOAL: Goal = { atMost: 0.6 }
const BYTES_GOAL: Goal = { atMost: 56 }
const CALL_GOAL: Goal = { atMost: 2 }
/** Milliseconds by which the longest garbage collection may exceed that with a Map that is only looked up. */
const COLLECTION_MS = 2
/** Bits of a key's digest. */
const DIGEST_BITS = 64

/** Measures what a table of a million keys costs in time, memory and pauses. */
export const keys: Part = {
  name: 'keys',
  title: `${figure(KEYS.full)} keys at random (in a quick run ${figure(KEYS.quick)}), against a plain Map of hand-written buckets`,
  async run(options) {
    const readings: Reading[] = []
    for (const profile of [ALLOWED_KEYS, DENIED]) readings.push(await speedOf(profile, options))
    const [runs, count] = [RUNS[options.depth], KEYS[options.depth]]
    const held: HeldRuns = { sluice: [], map: [], lookup: [], bare: [] }
    for (let run = 0; run < runs; run += 1) {
      options.say(`growth, collections and memory of ${HOLDERS.join(', ')}: run ${run + 1} of ${runs}`)
      for (const holder of HOLDERS) {
        const input: HoldInput = { holder, keys: count }
        held[holder].push(await inChild<HoldResult>('hold', input, options))
      }
    }
    readings.push(...heldReadings(held))
    const [walls, apart] = [held.sluice.map(({ call }) => call.wall), held.sluice.map(({ call }) => call.apart)]
    const kinds = (phase: 'growth' | 'lookups'): string =>
      held.sluice.map(({ collections }) => `${figure(collections[phase].ms, 2)} (${collections[phase].kind})`).join(', ')
    return {
      readings,
      notes: [
        `Two of n keys share a ${DIGEST_BITS}-bit digest with a probability of at most n^2 / 2^${DIGEST_BITS + 1}: ${collisionBound(count).toExponential(1)} for ${figure(count)} keys.`,
        `Memory, longest call and longest collection are the worst of ${runs} runs, for Sluice and for the baseline.`,
        `The longest call of Sluice in each run took ${list(walls)} by the clock, which includes waits for a processor. Without the garbage collections during a call, the longest took ${list(apart)}.`,
        `The longest garbage collections with Sluice, one figure for each run: ${kinds('growth')} ms while the store grew, ${kinds('lookups')} ms during lookups.`,
        'Bytes are heap and external memory after a garbage collection. External memory includes array buffers. The texts of the keys are not counted, because the caller holds them.',
      ],
    }
  },
}

export type HeldRuns = Readonly<Record<Holder, HoldResult[]>>

/** An upper bound on the probability that two of this many 64-bit digests are equal (birthday problem). */
export function collisionBound(count: number): number {
  return count ** 2 / 2 ** (DIGEST_BITS + 1)
}

async function speedOf(profile: Profile, options: PartOptions): Promise<Reading> {
  const { seconds, say, depth } = options
  const count = KEYS[depth]
  say(`${profile.name}, ${seconds} s`)
  const input: KeysInput = { seconds, keys: count, profile }
  const { lanes, firstAllowed } = await inChild<KeysResult>('keys', input, options)
  const [map, ours, bare] = lanes
  const spread = ratiosOf(ours.rounds, map.rounds)
  return {
    name: 'checkSync',
    profile: profile.name,
    unit: 'x',
    value: spread.median,
    spread,
    goal: SPEED_GOAL,
    ours: nanoseconds(ours),
    baseline: `Map ${nanoseconds(map)}`,
    floor: { value: ratiosOf(bare.rounds, map.rounds).median, what: `a bare open-addressed table, ${nanoseconds(bare)}` },
    // In the first round every key may pass once. In the denied flood after it, none may pass.
    wrongAnswers: wrongAnswersOf(profile, ours) + (count - firstAllowed),
    overGrantPercent: profile.answer === 'denied' ? (ours.allowed / count) * 100 : 0,
  }
}

/** Compares the worst run of each side, because a pause counts even if it occurs in only one of the runs. */
export function heldReadings({ sluice, map, lookup, bare }: HeldRuns): Reading[] {
  const worst = (runs: readonly HoldResult[], of: (run: HoldResult) => number): number => Math.max(...runs.map(of))
  const bytes = ({ bytesPerKey }: HoldResult): number => bytesPerKey
  const call = (run: HoldResult): number => run.call.own
  const growth = (run: HoldResult): number => run.collections.growth.ms
  const lookups = (run: HoldResult): number => run.collections.lookups.ms
  const row = (name: string, unit: Unit, of: (run: HoldResult) => number, goal: Goal, floor: number, what: string): Reading => ({
    name,
    unit,
    value: worst(sluice, of),
    goal,
    baseline: `Map ${amount(worst(map, of), unit)}`,
    floor: { value: floor, what },
  })
  const pause = (phase: string, of: (run: HoldResult) => number): Reading => {
    const calm = worst(lookup, of)
    const what = `a Map that is only looked up; the goal is ${COLLECTION_MS} ms above it`
    return row(`longest collection, ${phase}`, 'ms', of, { atMost: calm + COLLECTION_MS }, calm, what)
  }
  const still = worst(sluice, (run) => run.nothing.own)
  return [
    row('memory per key', 'bytes', bytes, BYTES_GOAL, worst(bare, bytes), 'the bare table of fixed size'),
    row('longest call from 0 to all keys', 'ms', call, CALL_GOAL, still, 'an empty loop between the same readings of the clock'),
    pause('from 0 to all keys', growth),
    pause('lookups at random', lookups),
  ]
}

function list(values: readonly number[]): string {
  return `${values.map((value) => figure(value, 2)).join(', ')} ms`
}

function nanoseconds({ rounds }: Timed): string {
  return amount(median(rounds), 'ns')
}
