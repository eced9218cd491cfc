import { describe, expect, it } from 'vitest'
import type { Change, Decided, GroupOptions, StoreFailure } from '../../stores/store.ts'
import { TENS } from '../limits.ts'
import * as verbs from '../store-verbs.ts'
import { type Bench, START } from './bench.ts'

const KINDS: readonly Change['kind'][] = ['adjust', 'leave', 'release', 'settle', 'extend', 'block', 'unblock', 'reset']
/** The changes that end what each option of a group begins. */
const ENDS: Readonly<Record<keyof GroupOptions, readonly Change['kind'][]>> = { maxWait: ['leave'], hold: ['release'] }
const ALWAYS: readonly (keyof Decided)[] = ['outcome', 'at', 'retryAfter', 'calls']
const FIELDS: readonly (keyof Decided)[] = [...ALWAYS, 'source', 'reason', 'degraded', 'failure']

export function contractOf(bench: Bench): void {
  const { decide, decideNow, call, fresh, tags } = bench
  const limits = tags.map((tag) => TENS[tag])
  const [ten = TENS.tb] = limits

  describe('the port', () => {
    it('has a name, and lists the changes that it makes', () => {
      const { store } = bench
      const { name, capabilities } = store
      expect(name).toMatch(/./)
      expect(KINDS).toEqual(expect.arrayContaining([...capabilities.changes]))
      expect(new Set(capabilities.changes).size).toBe(capabilities.changes.length)
      if (capabilities.sync) expect(store.decideNow).toBeTypeOf('function')
    })

    it('offers an option of groups only with the changes that end what it begins, and settlements only with holds', () => {
      const { groupOptions = [], changes } = bench.store.capabilities
      expect(Object.keys(ENDS)).toEqual(expect.arrayContaining([...groupOptions]))
      expect(changes).toEqual(expect.arrayContaining(groupOptions.flatMap((option) => ENDS[option])))
      expect([changes.includes('extend'), changes.includes('settle') && !groupOptions.includes('hold')]).toEqual([
        bench.can('settle'),
        false,
      ])
    })

    it.each([true, false])('decides each group, with a part for each call and no other fields: charge %s', async (charge) => {
      const all = [[call(fresh(), ten)], limits.map((limit) => call(fresh(), limit)), [call(fresh(), ten, 11)]]
      const groups = all.map((calls) => ({ calls }))
      const verdicts = await bench.store.decide(groups, { now: START, charge, onContention: 'fail' })
      expect(verdicts.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'impossible'])
      expect(verdicts.map(({ calls }) => calls?.length)).toEqual([1, limits.length, 1])
      for (const verdict of verdicts) expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(verdict)))
    })

    it('decides now, or charges nothing, and its verdicts are the caller’s to keep', async (context) => {
      const { store } = bench
      context.skip(store.decideNow === undefined, 'the store decides nothing now')
      for (const limit of limits) {
        const [key, other] = [call(fresh(), limit), call(fresh(), limit)]
        const kept = [key, key, other, key].map((one) => {
          // The store must not keep a reference to the caller's group.
          const shared = { ...one, id: { ...one.id }, cost: 4_000_000 }
          const verdict = decideNow([shared], START)
          Object.assign(shared.id, { key: 'another' })
          return verdict
        })
        const copies = structuredClone(kept)
        await decide([{ ...key, cost: 2_000_000 }], START)
        decideNow([key, { ...other, cost: 10_000_000 }], START)
        if (bench.can('block', 'unblock')) {
          await bench.block(key.id, 5_000_000, START)
          decideNow([key], START)
          await bench.block(key.id, null, START)
        }
        await decide([{ ...other, cost: 6_000_000 }], START)
        expect(kept).toEqual(copies)
        const decided = kept.filter((verdict) => verdict !== undefined)
        expect(new Set(decided).size).toBe(decided.length)
        if (store.capabilities.sync) expect(decided).toHaveLength(kept.length)
      }
    })

    it('makes changes of different kinds in order, and answers each with a result', async () => {
      const [one, other] = [call(fresh(), ten), call(fresh(), ten)]
      await decide([one, other], START)
      const changes: readonly Change[] = [
        { kind: 'adjust', call: one, amount: -5_000_000 },
        { kind: 'adjust', call: other, amount: -2_000_000 },
        { kind: 'reset', id: one.id },
        { kind: 'adjust', call: one, amount: -3_000_000 },
        { kind: 'adjust', call: one, amount: 1_000_000, receipt: START },
        { kind: 'unblock', id: other.id },
        { kind: 'block', id: one.id, micros: 5_000_000 },
        { kind: 'block', id: other.id, micros: 7_000_000 },
        { kind: 'unblock', id: one.id },
      ]
      const able = changes.filter(({ kind }) => bench.can(kind))
      await bench.change(able, START)
      for (const { id } of [one, other]) await bench.sameState(id)
      await decide([{ ...one, cost: 8_000_000 }], START)
      await decide([other], START)
      await decide([other], START + 7_000_000)
    })

    it('a group without room fails alone, and charges nothing', async (context) => {
      const { openFull } = bench.options
      if (openFull === undefined) return context.skip('the room of the store has no bound, or the suite does not know it')
      const full = await openFull()
      try {
        const [known, fresher] = [call(fresh(), ten), call(fresh(), ten)]
        await verbs.decide(full, [{ calls: [known] }], { now: START })
        const groups = [[known], [fresher], [known, fresher], [known]].map((calls) => ({ calls }))
        for (const charge of [false, true]) {
          const verdicts = await full.decide(groups, { now: START, charge })
          const remaining = verdicts.map((verdict) => verdict.calls?.[0]?.remaining)
          expect(remaining).toEqual(charge ? [8, undefined, undefined, 7] : [9, undefined, undefined, 8])
          for (const verdict of [verdicts[1], verdicts[2]]) {
            expect(Object.keys(verdict ?? {})).toEqual(['failure'])
            expect(verdict?.failure).toMatchObject({ name: 'StoreFailure', kind: 'memory', executed: 'no' } satisfies Partial<StoreFailure>)
          }
        }
      } finally {
        await full.close()
      }
    })
  })
}
