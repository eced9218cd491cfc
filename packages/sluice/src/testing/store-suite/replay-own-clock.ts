import { describe, expect, it } from 'vitest'
import type { AlgorithmTag, AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { stateName } from '../../keys/encode.ts'
import { phaseOf } from '../../limiter/phase.ts'
import type { Call, CallGroup, Decided, StateId } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { seeded } from '../random.ts'
import { Reference } from '../reference.ts'
import { answerOf, type Bench, scopesOf } from './bench.ts'
import { createMet } from './met.ts'
import * as verbs from '../store-verbs.ts'

const SEED = 20_261_122
/** Limits that are fresh after 2 to 300 ms, so that states expire, are deleted and begin again during the trace; and some that last. */
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
const KEYS = 10
const STEADY = 0.9
/** The probability of a step that repeats one call, for one key or for several: stores have a fast path for that. */
const ALIKE = 0.5
const VERBS = 0.3
const SWEEPS = 0.1
/** Calls of the trace for each required occurrence of a case. */
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

/**
 * Replays the kernel on the store's own clock. Each verdict reports its time, and must equal the reference's for that time, whatever the
 * store has let expire or was made to sweep meanwhile.
 */
export function replayOwnClock(tags: readonly AlgorithmTag[], bench: Bench): void {
  const { options } = bench
  const total = options.ownClockCalls ?? 0
  describe.skipIf(total === 0)('replays the kernel on its own clock', () => {
    it('identical decisions, over blocks, refunds, resets, sweeps and states that end', async (context) => {
      const { store } = bench
      context.skip(!bench.can('adjust', 'block', 'unblock'), 'the store has no adjust or no block')
      const limits = LIMITS.filter(({ algorithm }) => tags.includes(algorithm.tag))
      const reference = new Reference()
      const met = createMet()
      const random = seeded(SEED)
      const pick = (count: number): number => Math.floor(random() * count)
      const last = new Map<string, AnyLimit>()
      const blocks = new Map<StateId['key'], Micros>()
      const nameOf = ({ id }: Call): string => id.scope.text + id.key
      const callOf = (given = limits[pick(limits.length)] as AnyLimit, key = `k${pick(KEYS)}`): Call => {
        const scope = SCOPES[given.algorithm.tag]
        const known = last.get(scope.text + key)
        const limit = known !== undefined && random() < STEADY ? known : given
        last.set(scope.text + key, limit)
        return { id: { scope, key }, limit, cost: costOf(limit, random), phase: phaseOf(limit, key) }
      }
      const alike = (): CallGroup[] => {
        const first = callOf()
        const oneKey = random() < 0.5
        return Array.from({ length: 1 + pick(8) }, () => {
          const key = oneKey ? first.id.key : `k${pick(KEYS)}`
          return { calls: [{ ...first, id: { ...first.id, key }, phase: phaseOf(first.limit, key) }] }
        })
      }
      const mixed = (): CallGroup[] =>
        Array.from({ length: 1 + pick(3) }, () => {
          const drawn = Array.from({ length: 1 + pick(3) }, () => callOf())
          // Calls of one state in one group have one limit.
          return { calls: drawn.map((call) => ({ ...(drawn.find((one) => nameOf(one) === nameOf(call)) as Call), cost: call.cost })) }
        })
      const decide = async (groups: readonly CallGroup[]): Promise<Micros> => {
        const verdicts = await verbs.decide(store, groups)
        const { at } = verdicts[0] as Decided
        met.before(groups, at, reference)
        for (const call of groups.flatMap(({ calls }) => calls)) {
          const ends = blocks.get(nameOf(call))
          if (ends === undefined || ends > at) continue
          met.count('block over')
          blocks.delete(nameOf(call))
        }
        const expected = groups.map((group) => reference.decide(group, at))
        const actual = verdicts.map(answerOf)
        if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
        met.after(groups, expected)
        return at
      }
      const block = async (call: Call, duration: Micros | null, now: Micros | undefined): Promise<void> => {
        await verbs.block(store, [call.id], duration, now === undefined ? {} : { now })
        let ends = duration === null ? 0 : (now ?? 0) + duration
        if (duration !== null && now === undefined) {
          // Only the store knows when the block began; a refused call shows when it ends.
          const [verdict] = await verbs.peek(store, [{ calls: [{ ...call, cost: 1 }] }])
          const { at, calls } = verdict as Decided
          ends = calls[0]?.blocked === true ? at + calls[0].retryAfter : 0
          // The limit denies the key for longer than the block, so the block is lifted again.
          if (ends > at + duration) return block(call, null, undefined)
        }
        reference.block(call.id, ends)
        blocks.set(nameOf(call), ends)
        if (duration === null) met.count('unblocked')
      }
      let compared = 0
      while (compared < total) {
        const groups = random() < ALIKE ? alike() : mixed()
        const at = await decide(groups)
        compared += groups.reduce((sum, { calls }) => sum + calls.length, 0)
        if (random() < SWEEPS && options.sweep !== undefined) met.count('swept', await options.sweep())
        if (random() > VERBS) continue
        const call = groups[0]?.calls[0] as Call
        const kind = random()
        if (kind < 0.3) {
          // Some end at once, and some last while a slow machine continues.
          await block(call, 1 + pick(random() < 0.5 ? 20_000 : 2_000_000), random() < 0.5 ? undefined : at)
        } else if (kind < 0.4) {
          await block(call, null, undefined)
        } else if (kind < 0.8) {
          const given = random() < 0.5 ? { now: at } : { now: at, receipt: at - pick(100_000) }
          const amount = random() < 0.5 ? call.cost : -call.cost
          const ends = reference.states.get(stateName(call.id))?.expires ?? at
          await verbs.adjust(store, [call], [amount], given)
          const [seen] = await verbs.peek(store, [{ calls: [call] }])
          if (ends > at && ends <= (seen as Decided).at) {
            // On a busy machine the state may have expired before the store applied the change for that time.
            await verbs.reset(store, [call.id])
            reference.reset(call.id)
          } else {
            reference.adjust([call], [amount], given)
            met.count('adjusted')
          }
        } else {
          await verbs.reset(store, [call.id])
          reference.reset(call.id)
          met.count('reset')
        }
        await decide([{ calls: [call] }])
      }
      const meets = [...MEETS, ...(options.sweep === undefined ? [] : ['swept'])]
      expect(met.tooFew(meets, total / CALLS_TO_MEET)).toEqual([])
    }, 120_000)
  })
}

const SCOPES = scopesOf('own')

function costOf({ capacity }: AnyLimit, random: () => number): number {
  const kind = random()
  if (kind < 0.6) return 1_000_000
  return Math.max(1, Math.round(random() * 1.1 * capacity * 1_000_000))
}
