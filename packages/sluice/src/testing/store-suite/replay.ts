import { describe, expect, it } from 'vitest'
import type { AlgorithmTag } from '../../algorithms/algorithm.ts'
import type { Call, CallGroup } from '../../stores/store.ts'
import { seeded } from '../random.ts'
import { Reference } from '../reference.ts'
import { traces, type TraceStep } from '../traces.ts'
import { type Answer, answerOf, type Bench } from './bench.ts'

const SEED = 20_261_121
/** About one in so many calls of the differential test is also looked at, before it is made. */
const PEEK_EVERY = 1_000
/** And about one in so many steps also gives back, takes, blocks or forgets something. */
const VERB_EVERY = 6

/** One group for each step. */
function* apart(steps: Iterable<TraceStep>): Generator<TraceStep> {
  for (const { now, groups } of steps) for (const group of groups) yield { now, groups: [group] }
}

/** The kernel replayed: identical decisions and states on random traces, with every verb that the store has. */
export function replay(tags: readonly AlgorithmTag[], bench: Bench): void {
  const { options } = bench
  const stepsOf = (seed: number, calls: number): Generator<TraceStep> => {
    if (options.givesBack !== true) return traces(seed, calls, { algorithms: tags })
    return apart(traces(seed, calls, { algorithms: tags, forwards: true }))
  }
  /** What was charged and given back decides alike, but is not the same state: it is forgotten. */
  const forget = async (groups: readonly CallGroup[], answers: readonly Answer[], reference: Reference): Promise<void> => {
    if (options.givesBack !== true || answers.every(({ allowed }) => allowed)) return
    const ids = groups.flatMap(({ calls }) => calls.map(({ id }) => id))
    await bench.store.reset(ids)
    for (const id of ids) reference.reset(id)
  }

  describe('replays the kernel', () => {
    it('identical decisions and states on random traces', async () => {
      const total = options.differentialCalls ?? 100_000
      const reference = new Reference()
      let compared = 0
      for (const { now, groups } of stepsOf(SEED, total)) {
        if (compared % PEEK_EVERY < groups.length) {
          const looking = new Reference(reference)
          const seen = await bench.store.peek(groups, { now })
          expect(seen.map(answerOf)).toEqual(groups.map((group) => looking.decide(group, now, true)))
        }
        const expected = groups.map((group) => reference.decide(group, now))
        const actual = (await bench.store.consume(groups, { now })).map(answerOf)
        if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
        await forget(groups, expected, reference)
        compared += groups.reduce((sum, { calls }) => sum + calls.length, 0)
      }
      expect(compared).toBeGreaterThanOrEqual(total)
      await sameStates(reference)
    }, 120_000)

    it('the same with refunds, penalties, blocks and resets between', async (context) => {
      const { store } = bench
      context.skip(store.adjust === undefined || store.block === undefined, 'the store has no adjust or no block')
      const reference = new Reference()
      const random = seeded(SEED)
      let receipt = 0
      for (const { now, groups } of stepsOf(SEED + 1, (options.differentialCalls ?? 100_000) / 10)) {
        const expected = groups.map((group) => reference.decide(group, now))
        expect((await store.consume(groups, { now })).map(answerOf)).toEqual(expected)
        await forget(groups, expected, reference)
        if (random() * VERB_EVERY > 1) continue
        const { calls } = groups[Math.floor(random() * groups.length)] as { calls: readonly Call[] }
        const kind = random()
        if (kind < 0.7) {
          const amounts = calls.map(({ cost }) => (random() < 0.5 ? -cost : cost))
          const given = random() < 0.5 ? { now } : { now, receipt }
          await store.adjust?.(calls, amounts, given)
          reference.adjust(calls, amounts, given)
        } else if (kind < 0.9) {
          const ids = calls.map(({ id }) => id)
          const duration = random() < 0.4 ? null : 1 + Math.floor(random() * 1_000_000)
          await store.block?.(ids, duration, { now })
          for (const id of ids) reference.block(id, duration === null ? 0 : now + duration)
        } else {
          const ids = calls.map(({ id }) => id)
          await store.reset(ids)
          for (const id of ids) reference.reset(id)
        }
        receipt = now
      }
      await sameStates(reference)
    }, 60_000)

    async function sameStates(reference: Reference): Promise<void> {
      expect(reference.states.size).toBeGreaterThan(0)
      for (const { id, numbers } of reference.states.values()) expect(await options.readState(id)).toEqual(numbers)
    }
  })
}
