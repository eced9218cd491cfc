import type { Timed } from '../interleave.ts'
import { amount } from '../reading-text.ts'
import type { Goal, Reading, Unit } from '../reading.ts'
import { figure } from '../report.ts'
import { median, ratiosOf } from '../statistics.ts'
import { inChild } from './in-child.ts'
import type { HoldInput, HoldResult } from './keys-hold.ts'
import type { KeysInput, KeysResult } from './keys-lanes.ts'
import type { Holder } from './many-keys.ts'
import type { Part, PartOptions } from './part.ts'
import { ALLOWED_KEYS, DENIED, type Profile, wrongAnswersOf } from './profiles.ts'

const KEYS = 1_000_000
const RUNS = 3
const SPEED_GOAL = { atMost: 0.6 }
const BYTES_GOAL = { atMost: 56 }
const CALL_GOAL_MS = 2
/** How much longer than with a Map of lookups alone the longest collection may be. */
const COLLECTION_MS = 2
/** Bits of a key's digest. */
const DIGEST_BITS = 64

/** A million keys: what a table costs in time, memory and pauses. */
export const keys: Part = {
  name: 'keys',
  title: `${figure(KEYS)} keys at random, against a plain Map of hand-written buckets`,
  async run(options) {
    const speeds: Reading[] = []
    for (const profile of [ALLOWED_KEYS, DENIED]) speeds.push(...(await speedOf(profile, options)))
    const held = new Map<Holder, HoldResult>()
    for (const holder of ['sluice', 'map', 'lookup', 'bare'] as const) {
      options.say(`${figure(KEYS)} keys: growth, collections and memory of ${holder}, ${RUNS} runs`)
      const input: HoldInput = { holder, keys: KEYS, runs: RUNS }
      held.set(holder, await inChild<HoldResult>('hold', input, options))
    }
    const of = (holder: Holder): HoldResult => held.get(holder) as HoldResult
    return {
      readings: [...speeds, ...holdReadings(of('sluice'), of('map'), of('lookup'), of('bare'))],
      notes: [
        `Two of n keys share a ${DIGEST_BITS}-bit digest with a probability of at most n^2 / 2^${DIGEST_BITS + 1}: ${collisionBound(KEYS).toExponential(1)} for ${figure(KEYS)} keys.`,
        `Longest call and collection: the shortest of ${RUNS} runs, because what the table does itself happens in every run; all runs of Sluice: calls ${list(of('sluice').longestCall)}, collections ${list(of('sluice').longestCollection)}.`,
        'Bytes: heap and external memory (array buffers are counted there) after a collection, the keys’ own texts not counted: the caller holds those.',
      ],
    }
  },
}

/** Bound of the birthday problem for `keys` digests of 64 bits. */
export function collisionBound(count: number): number {
  return count ** 2 / 2 ** (DIGEST_BITS + 1)
}

async function speedOf(profile: Profile, options: PartOptions): Promise<Reading[]> {
  const { seconds, say } = options
  say(`${figure(KEYS)} keys, ${profile.name}, ${seconds} s`)
  const input: KeysInput = { seconds, keys: KEYS, profile }
  const { lanes, firstAllowed } = await inChild<KeysResult>('keys', input, options)
  const [map, ours, bare] = lanes as readonly [Timed, Timed, Timed]
  const spread = ratiosOf(ours.rounds, map.rounds)
  const floor = ratiosOf(bare.rounds, map.rounds).median
  // Every key may pass once; in the flood after it, none.
  const wrongAnswers = wrongAnswersOf(profile, ours) + (KEYS - firstAllowed)
  return [
    {
      name: 'checkSync',
      profile: profile.name,
      unit: 'x',
      value: spread.median,
      spread,
      goal: SPEED_GOAL,
      ours: nanoseconds(ours),
      baseline: `Map ${nanoseconds(map)}`,
      floor: { value: floor, what: `a bare open-addressed table, ${nanoseconds(bare)}` },
      wrongAnswers,
      overGrantPercent: profile.answer === 'denied' ? (ours.allowed / KEYS) * 100 : 0,
    },
  ]
}

function holdReadings(ours: HoldResult, map: HoldResult, lookup: HoldResult, bare: HoldResult): Reading[] {
  const [call, collection] = [least(ours.longestCall), least(ours.longestCollection)]
  const calm = least(lookup.longestCollection)
  const row = (name: string, unit: Unit, value: number, goal: Goal, baseline: number, floor: number, what: string): Reading => {
    const floorOf = { value: floor, what }
    return { name, unit, value, goal, ours: amount(value, unit), baseline: `Map ${amount(baseline, unit)}`, floor: floorOf }
  }
  return [
    row('memory per key', 'bytes', ours.bytesPerKey, BYTES_GOAL, map.bytesPerKey, bare.bytesPerKey, 'the bare table of fixed size'),
    row(
      'longest call from 0 to 1,000,000 keys',
      'ms',
      call,
      { atMost: CALL_GOAL_MS },
      least(map.longestCall),
      least(ours.longestNothing),
      'an empty loop between the same readings of the clock, in the same process',
    ),
    row(
      'longest collection',
      'ms',
      collection,
      { atMost: calm + COLLECTION_MS },
      least(map.longestCollection),
      calm,
      `a Map that is only looked up; the goal is ${COLLECTION_MS} ms above it`,
    ),
  ]
}

function least(values: readonly number[]): number {
  return Math.min(...values)
}

function list(values: readonly number[]): string {
  return `${values.map((value) => figure(value, 2)).join(', ')} ms`
}

function nanoseconds({ rounds }: Timed): string {
  return amount(median(rounds), 'ns')
}
