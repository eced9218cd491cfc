import { describe, expect, it } from 'vitest'
import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { stateName } from '../../keys/encode.ts'
import type { Call, CallGroup, Decided } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { seeded } from '../random.ts'
import * as verbs from '../store-verbs.ts'
import { groupDrawer } from '../traces.ts'
import { answerOf, type Bench, changeBoth, type Pair } from './bench.ts'
import { createMet, type Met } from './met.ts'

const SEED = 20_261_122
/** Most are full again after 2 to 300 ms, so that states expire, are deleted and begin again during the trace. */
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '200/s', burst: 4 }),
  tokenBucket({ rate: '2000/s', burst: 5 }),
  tokenBucket({ rate: '333.333333/s', burst: 10 }),
  tokenBucket({ rate: '10/s', burst: 3 }),
  tokenBucket({ rate: '1/h', burst: 20 }),
  fixedWindow({ limit: 3, window: '3ms' }),
  fixedWindow({ limit: 5, window: '40ms', align: 'first' }),
  fixedWindow({ limit: 5, window: '300ms', align: 'key', ramp: '70ms' }),
  fixedWindow({ limit: 20, window: '1h' }),
  slidingWindowCounter({ limit: 3, window: '3ms' }),
  slidingWindowCounter({ limit: 5, window: '60ms' }),
  slidingWindowCounter({ limit: 20, window: '1h' }),
  slidingWindowLog({ limit: 3, window: '3ms' }),
  slidingWindowLog({ limit: 5, window: '60ms' }),
  slidingWindowLog({ limit: 20, window: '1h' }),
]
const DRAW = { scope: 'own', most: 4, keys: 10, steady: 0.9, alike: 0.5 }
const VERBS = 0.3
const SWEEPS = 0.1
/** The trace must cover each case once per this many calls. */
const CALLS_TO_MEET = 250
const MEETS = [
  'allowed',
  'denied',
  'changed limit',
  'run of one call',
  'spent state',
  'blocked',
  'block over',
  'unblocked',
  'adjusted',
  'reset',
]

/** Each verdict reports its time, and must equal the reference's at that time, even if the store has deleted expired states. */
export function replayOwnClock(bench: Bench): void {
  const { options, tags } = bench
  const total = options.ownClockCalls ?? 0
  describe.skipIf(total === 0)('replays the kernel on its own clock', () => {
    it('identical decisions, over blocks, refunds, resets, sweeps and states that end', async (context) => {
      context.skip(!bench.can('adjust', 'block', 'unblock', 'reset'), 'the store has no adjust, no block or no reset')
      const random = seeded(SEED)
      const met = createMet()
      const { decide, verb } = pairOf({ store: bench.store, reference: bench.reference() }, met, random)
      const limits = LIMITS.filter(({ algorithm }) => tags.some((tag) => tag === algorithm.tag))
      const draw = groupDrawer(limits, random, DRAW)
      for (let compared = 0; compared < total;) {
        const groups = draw()
        const at = await decide(groups)
        // If the clock stepped back, the store may have deleted states that the reference still has.
        if (at === undefined) return context.skip('the clock of the store stepped back')
        compared += groups.reduce((sum, { calls }) => sum + calls.length, 0)
        if (random() < SWEEPS && options.sweep !== undefined) met.count('swept', await options.sweep())
        if (random() > VERBS) continue
        const call = groups[0]?.calls[0] as Call
        await verb(call, at)
        if ((await decide([{ calls: [call] }])) === undefined) return context.skip('the clock of the store stepped back')
      }
      const meets = [...MEETS, ...(options.sweep === undefined ? [] : ['swept'])]
      expect(met.tooFew(meets, total / CALLS_TO_MEET)).toEqual([])
    }, 120_000)
  })
}

/** The reference decides at the times that the store reports. */
function pairOf({ store, reference }: Pair, met: Met, random: () => number) {
  const pair = { store, reference }
  const blocks = new Map<string, Micros>()
  const pick = (count: number): number => Math.floor(random() * count)
  let latest: Micros = 0
  let stepsBack = false
  /** Returns the store's time; undefined if its clock stepped back and it decided differently. */
  const decide = async (groups: readonly CallGroup[]): Promise<Micros | undefined> => {
    const verdicts = await verbs.decide(store, groups)
    const { at } = verdicts[0] as Decided
    const before = latest
    stepsBack ||= at < before
    latest = at
    met.before(groups, at, reference)
    for (const { id } of groups.flatMap(({ calls }) => calls)) {
      if ((blocks.get(stateName(id)) ?? Infinity) > at) continue
      met.count('block over')
      blocks.delete(stateName(id))
    }
    const expected = groups.map((group) => reference.decide(group, at))
    const actual = verdicts.map(answerOf)
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      if (stepsBack) return undefined
      expect(actual, `${JSON.stringify(groups)} ${latest - before} us after the last`).toEqual(expected)
    }
    met.after(groups, expected)
    return at
  }
  const unblock = async ({ id }: Call, at: Micros): Promise<void> => {
    await changeBoth(pair, [{ kind: 'unblock', id }], at)
    blocks.set(stateName(id), 0)
    met.count('unblocked')
  }
  /** `now` undefined: the store's own time. */
  const block = async (call: Call, micros: Micros, at: Micros, now: Micros | undefined): Promise<void> => {
    await verbs.block(store, [call.id], micros, now === undefined ? {} : { now })
    let ends = at + micros
    if (now === undefined) {
      // Only the store knows when the block began; a denied call shows when it ends.
      const [verdict] = await verbs.peek(store, [{ calls: [{ ...call, cost: 1 }] }])
      const { at: seen, calls } = verdict as Decided
      const left = calls[0]?.blockedFor
      ends = left === undefined ? 0 : seen + left
    }
    reference.block(call.id, ends)
    blocks.set(stateName(call.id), ends)
  }
  return {
    decide,
    /** `at`: a time that the store has reported. */
    async verb(call: Call, at: Micros): Promise<void> {
      const kind = random()
      // Blocks of up to two seconds let even a slow machine make calls during them.
      if (kind < 0.3) return block(call, 1 + pick(random() < 0.5 ? 20_000 : 2_000_000), at, random() < 0.5 ? undefined : at)
      if (kind < 0.4) return unblock(call, at)
      if (kind < 0.8 && (await adjustBoth(pair, call, at, random))) return met.count('adjusted')
      await changeBoth(pair, [{ kind: 'reset', id: call.id }], at)
      met.count('reset')
    },
  }
}

/** False if the state may have expired before the store applied the change, as on a busy machine. */
async function adjustBoth({ store, reference }: Pair, call: Call, at: Micros, random: () => number) {
  const options = random() < 0.5 ? { now: at } : { now: at, receipt: at - Math.floor(random() * 100_000) }
  const amount = random() < 0.5 ? call.cost : -call.cost
  const ends = reference.states.get(stateName(call.id))?.expires ?? at
  await verbs.adjust(store, [call], [amount], options)
  const [seen] = await verbs.peek(store, [{ calls: [call] }])
  if (ends > at && ends <= (seen as Decided).at) return false
  reference.adjust([call], [amount], options)
  return true
}
