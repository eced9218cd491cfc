import { describe, expect, it } from 'vitest'
import type { Call, CallGroup, Change } from '../../stores/store.ts'
import type { Micros } from '../../time/micros.ts'
import { seeded } from '../random.ts'
import type { Reference } from '../reference.ts'
import { type TraceOptions, traces, type TraceStep } from '../traces.ts'
import { type Answer, type Bench, changeBoth, decideBoth, type Pair, peekBoth } from './bench.ts'
import { createMet, type Met } from './met.ts'

const SEED = 20_261_121
/** A peek comes before about one in this many calls. */
const PEEK_EVERY = 1_000
const VERBS = 0.5
/** The trace must cover each rare case once per this many calls. */
const CALLS_TO_MEET = 1_000
/** With fewer calls, the trace would not cover all cases. */
const MIN_WITH_VERBS = 1_000
const MEETS = ['allowed', 'denied', 'impossible', 'changed limit', 'twice in a group', 'run of one call', 'spent state']
const MEETS_WITH_VERBS = ['blocked', 'unblocked', 'refund in time', 'refund too late', 'penalty', 'reset']

function* apart(steps: Iterable<TraceStep>): Generator<TraceStep> {
  for (const { now, groups } of steps) for (const group of groups) yield { now, groups: [group] }
}

/** With `givesBack`, a store may charge and then refund a denied group. Refill times of such a group are not compared. */
function withoutReturns(answer: Answer): Answer {
  if (answer.outcome === 'allowed') return answer
  return { ...answer, calls: answer.calls.map((call) => ({ ...call, replenishAfter: 0, resetAfter: 0 })) }
}

export function replay(bench: Bench): void {
  const { options, tags } = bench
  const stepsOf = (seed: number, calls: number, more: TraceOptions = {}): Generator<TraceStep> => {
    if (options.givesBack !== true) return traces(seed, calls, { ...more, algorithms: tags })
    return apart(traces(seed, calls, { ...more, algorithms: tags, forwards: true }))
  }
  const decide = async (pair: Pair, met: Met, groups: readonly CallGroup[], now: Micros): Promise<void> => {
    met.before(groups, now, pair.reference)
    const [actual, expected] = await decideBoth(pair, groups, now)
    met.after(groups, expected)
    const equal = JSON.stringify(actual) === JSON.stringify(expected)
    if (options.givesBack !== true) return equal ? undefined : expect(actual).toEqual(expected)
    if (!equal) expect(actual.map(withoutReturns)).toEqual(expected.map(withoutReturns))
    if (expected.every(({ outcome }) => outcome === 'allowed')) return
    // After a charge and its refund, states decide like the reference's but are not equal. So both are reset.
    const resets = groups.flatMap(({ calls }) => calls.map(({ id }): Change => ({ kind: 'reset', id })))
    await changeBoth(pair, resets, now)
  }
  /** With `givesBack`, each step has one group, so no step is a 'run of one call'; and time never runs backwards. */
  const meets = [
    ...MEETS.filter((name) => options.givesBack !== true || name !== 'run of one call'),
    ...(options.givesBack === true ? [] : ['backwards']),
    ...(tags.some((tag) => tag === 'tb' || tag === 'sl') ? ['keepFor'] : []),
  ]

  describe('replays the kernel', () => {
    it('identical decisions and states on random traces', async (context) => {
      context.skip(options.givesBack === true && !bench.can('reset'), 'the store gives back, and has no reset')
      const total = options.differentialCalls ?? 100_000
      const pair = { store: bench.store, reference: bench.reference() }
      const met = createMet()
      let compared = 0
      let latest: Micros = 0
      for (const { now, groups } of stepsOf(SEED, total)) {
        if (options.peeksAdopt !== true && compared % PEEK_EVERY < groups.length) await peekBoth(pair, groups, now)
        latest = Math.max(latest, now)
        await decide(pair, met, groups, now)
        compared += groups.reduce((sum, { calls }) => sum + calls.length, 0)
      }
      expect(compared).toBeGreaterThanOrEqual(total)
      expect(met.tooFew(meets, total / CALLS_TO_MEET)).toEqual([])
      await sameStates(pair.reference, latest)
    }, 120_000)

    it('the same with refunds, penalties, blocks and resets between', async (context) => {
      context.skip(!bench.can('adjust', 'block', 'unblock', 'reset'), 'the store has no adjust, no block or no reset')
      const pair = { store: bench.store, reference: bench.reference() }
      const met = createMet()
      const random = seeded(SEED)
      const receipts: Micros[] = [0]
      const total = Math.max(MIN_WITH_VERBS, (options.differentialCalls ?? 100_000) / 40)
      for (const { now, groups } of stepsOf(SEED + 1, total, { groups: 3, forwards: true })) {
        await decide(pair, met, groups, now)
        receipts.push(now)
        if (random() > VERBS) continue
        const { calls } = groups[Math.floor(random() * groups.length)] as { calls: readonly Call[] }
        const recent = receipts.slice(-4)
        await verb(calls, now, recent[Math.floor(random() * recent.length)])
        // Made alone, because a store may have a fast path for single calls.
        if (options.givesBack === true) continue
        for (const call of calls) if (random() < 0.5) await decide(pair, met, [{ calls: [call] }], now + Math.floor(random() * 3))
      }
      const forwards = meets.filter((name) => name !== 'run of one call' && name !== 'backwards')
      expect(met.tooFew([...forwards, ...MEETS_WITH_VERBS], total / CALLS_TO_MEET)).toEqual([])
      await sameStates(pair.reference, Math.max(...receipts))

      async function verb(calls: readonly Call[], now: Micros, receipt: Micros | undefined): Promise<void> {
        const each = async (changeOf: (call: Call, index: number) => Change): Promise<void> => {
          await changeBoth(pair, calls.map(changeOf), now)
        }
        const kind = random()
        if (kind >= 0.9) {
          await each(({ id }) => ({ kind: 'reset', id }))
          return met.count('reset')
        }
        if (kind >= 0.6) {
          const micros = random() < 0.3 ? undefined : 1 + Math.floor(random() * (random() < 0.5 ? 1_000_000 : 30_000_000))
          await each(({ id }) => (micros === undefined ? { kind: 'unblock', id } : { kind: 'block', id, micros }))
          return met.count(micros === undefined ? 'unblocked' : 'block')
        }
        const amounts = calls.map(({ cost }) => (random() < 0.5 ? -cost : cost))
        const used = random() < 0.4 ? undefined : receipt
        const before = calls.map(({ id }) => JSON.stringify(pair.reference.numbersOf(id)))
        await each((call, index) => ({ kind: 'adjust', call, amount: amounts[index] as number, receipt: used }))
        calls.forEach(({ id }, index) => {
          const same = JSON.stringify(pair.reference.numbersOf(id)) === before[index]
          if ((amounts[index] as number) < 0) met.count('penalty')
          else if (used !== undefined) met.count(same ? 'refund too late' : 'refund in time')
        })
      }
    }, 60_000)

    /** The store may have deleted an expired state (law 6). */
    async function sameStates(reference: Reference, now: Micros): Promise<void> {
      expect(reference.states.size).toBeGreaterThan(0)
      for (const { id, numbers, expires } of reference.states.values()) {
        const stored = await options.readState(id)
        if (stored !== undefined || expires > now) expect(stored).toEqual(numbers)
      }
    }
  })
}
