import { describe, expect, it } from 'vitest'
import type { Call, CallGroup, Change } from '../../stores/store.ts'
import { TENS } from '../limits.ts'
import { type Bench, START } from './bench.ts'
import * as verbs from '../store-verbs.ts'
import { scopesOf } from '../traces.ts'

const LONG = 'x'.repeat(300)
/** Keys that some encodings cannot tell apart. */
const CODED = [':\u0141', ':\ud800', ':\ufffd', ':\u{1f600}', ':\u{1f601}']

export function groupsOf(bench: Bench): void {
  const { decide, call, fresh, options, tags } = bench
  const limits = tags.map((tag) => TENS[tag])
  const [ten = TENS.tb] = limits

  describe('groups and keys', () => {
    it('answers nothing for no group and no change', async () => {
      expect(await verbs.decide(bench.store, [])).toEqual([])
      expect(await verbs.peek(bench.store, [])).toEqual([])
      expect(await bench.store.change([])).toEqual([])
    })

    it('law 1: charges a group over every algorithm as a whole', async () => {
      const key = fresh()
      const all = (cost: number) => limits.map((limit) => call(key, limit, cost))
      expect((await decide(all(6), START)).outcome).toBe('allowed')
      for (const denied of limits.keys()) {
        // Each call in turn is the one that its limit denies.
        const calls = limits.map((other, index) => call(index === denied ? key : `${key}:${denied}`, other, 5))
        expect((await decide(calls, START)).outcome).toBe('denied')
      }
      expect((await decide(all(4), START)).outcome).toBe('allowed')
      expect((await decide([...all(1), call(fresh(), ten, 11)], START)).outcome).toBe('impossible')
    })

    it('decides groups of one call in order, each on its own', async () => {
      const key = fresh()
      const groups: CallGroup[] = Array.from({ length: 12 }, () => ({ calls: [call(key, ten)] }))
      const verdicts = await verbs.decide(bench.store, groups, { now: START })
      expect(verdicts.map(({ outcome }) => outcome)).toEqual([...Array<string>(10).fill('allowed'), 'denied', 'denied'])
    })

    it('forgets what is reset, and nothing else', async (context) => {
      context.skip(!bench.can('reset'), 'the store has no reset')
      const [key, other] = [fresh(), fresh()]
      const all = limits.map((limit) => call(key, limit, 10))
      await decide([...all, call(other, ten, 10)], START)
      const resets = all.map(({ id }): Change => ({ kind: 'reset', id }))
      await bench.change(resets, START)
      expect((await decide(all, START)).outcome).toBe('allowed')
      expect((await decide([call(other, ten)], START)).outcome).toBe('denied')
    })

    it('keeps keys apart that look alike', async () => {
      const key = fresh()
      const ends = [':A', ':a:', '', ':%0061', ':a ', ':a\0', ':a\u0301', ':\u00e1', ':\u00e9', ...CODED, LONG, `${LONG.slice(1)}y`]
      const keys = [':a', ...ends].map((end) => key + end)
      for (const each of [...keys, ` ${key}:a`]) expect((await decide([call(each, ten, 10)], START)).outcome).toBe('allowed')
    })

    it('keeps limiters apart that look alike', async () => {
      const spent = call(fresh(), ten, 10)
      const scopes = ['t', 'S', '%73'].map((name) => scopesOf(name)[ten.algorithm.tag])
      for (const scope of [spent.id.scope, ...scopes]) {
        expect((await decide([{ ...spent, id: { ...spent.id, scope } }], START)).outcome).toBe('allowed')
      }
    })

    it('admits exactly the limit to many callers at once', async () => {
      for (const limit of limits) {
        const key = fresh()
        const decideOne = () => verbs.decide(bench.store, [{ calls: [call(key, limit)] }], { now: START })
        const verdicts = await Promise.all(Array.from({ length: bench.short ? 60 : 300 }, decideOne))
        expect(verdicts.flat().filter(({ outcome }) => outcome === 'allowed')).toHaveLength(10)
      }
    })

    it('admits exactly the limit to many groups at once, and charges nothing of those that it denies', async () => {
      for (const limit of limits) {
        const key = fresh()
        const calls = [call(key, ten), call(`${key}:b`, limit, 2)]
        // In both orders, because a store that locks one state after another may then deadlock; every third time as one list.
        const orders = [calls, calls.toReversed()].map((some) => ({ calls: some }))
        const decideOne = (_: unknown, index: number) =>
          verbs.decide(bench.store, index % 3 === 2 ? orders : orders.slice(index % 3, (index % 3) + 1), { now: START })
        const verdicts = await Promise.all(Array.from({ length: bench.short ? 60 : 300 }, decideOne))
        const { length: admitted } = verdicts.flat().filter(({ outcome }) => outcome === 'allowed')
        // A store that gives back may deny a group because of a charge that another group gives back.
        if (options.givesBack === true) expect(admitted).toBeLessThanOrEqual(5)
        else expect(admitted).toBe(5)
        const [left] = await verbs.peek(bench.store, [{ calls }], { now: START })
        expect(left?.calls.map(({ remaining }) => remaining)).toEqual([10 - admitted, 10 - 2 * admitted])
      }
    })

    it('blocks a key until it says, whatever is reset, and lifts it', async (context) => {
      context.skip(!bench.can('block', 'unblock'), 'the store has no block')
      const key = fresh()
      const { id } = call(key, ten)
      await bench.block(id, 5_000_000, START)
      const blocked = await decide([call(key, ten)], START)
      expect(blocked).toMatchObject({ outcome: 'denied', calls: [{ blockedFor: 5_000_000, retryAfter: 5_000_000, remaining: 10 }] })
      if (bench.can('reset')) await bench.change([{ kind: 'reset', id }], START)
      expect((await decide([call(key, ten)], START + 4_999_999)).outcome).toBe('denied')
      expect((await bench.peek([call(key, ten)], START + 1)).outcome).toBe('denied')
      expect((await decide([call(key, ten)], START + 5_000_000)).outcome).toBe('allowed')
      await bench.block(id, 60_000_000, START + 5_000_000)
      expect((await decide([call(fresh(), ten), call(key, ten)], START + 5_000_000)).outcome).toBe('denied')
      await bench.block(id, null, START + 6_000_000)
      expect((await decide([call(key, ten)], START + 6_000_000)).outcome).toBe('allowed')
      await bench.block(call(fresh(), ten).id, null, START)
    })

    it('X6: a blocked key, called alone or in a group, is reported as it is and not as if it had been charged', async (context) => {
      context.skip(!bench.can('block', 'unblock'), 'the store has no block')
      for (const limit of limits) {
        const key = fresh()
        const one = call(key, limit)
        await bench.block(one.id, 5_000_000, START)
        const untouched = { outcome: 'denied', blockedFor: 5_000_000, remaining: 10, resetAfter: 0, replenishAfter: 0 }
        expect((await decide([one], START)).calls).toMatchObject([untouched])
        expect((await decide([call(fresh(), ten, 4), one], START)).calls).toMatchObject([{ outcome: 'allowed', remaining: 10 }, untouched])
        expect((await bench.peek([one], START)).calls).toMatchObject([untouched])
        const impossible = { outcome: 'impossible', calls: [{ outcome: 'impossible', blockedFor: 5_000_000, remaining: 10 }] }
        for (const way of [decide, bench.peek]) expect(await way([call(key, limit, 11)], START)).toMatchObject(impossible)
      }
    })

    it('a peek answers as a charge would, and reports what is there', async () => {
      for (const limit of limits) {
        const key = fresh()
        const untouched = { outcome: 'allowed', calls: [{ remaining: 10, resetAfter: 0, replenishAfter: 0 }] }
        expect(await bench.peek([call(key, limit, 4)], START)).toMatchObject(untouched)
        await decide([call(key, limit, 7)], START)
        const seen = await bench.peek([call(key, limit, 4)], START)
        expect(seen).toEqual(await decide([call(key, limit, 4)], START))
      }
    })

    it('a peek at a later instant reports what will be there by then, and time does not go on', async () => {
      for (const limit of limits) {
        const key = fresh()
        await decide([call(key, limit, 7)], START)
        for (const later of [1, 500_000, 3_600_000_000, 400 * 86_400_000_000]) {
          const seen = await bench.peek([call(key, limit, 4)], START + later)
          expect(seen.at).toBe(START + later)
        }
        await decide([call(key, limit, 4)], START)
        await bench.sameState(call(key, limit).id)
      }
    })

    it('X7: a key that was charged before is blocked as well, whether it is called alone, over and over or with another', async (context) => {
      context.skip(!bench.can('block', 'unblock'), 'the store has no block')
      const [key, other] = [fresh(), fresh()]
      const calls = [call(key, ten), call(other, ten)]
      await decide(calls, START)
      await bench.block(call(key, ten).id, 5_000_000, START)
      expect((await decide([call(key, ten)], START)).outcome).toBe('denied')
      expect((await decide(calls, START + 1)).outcome).toBe('denied')
      for (const [one, next] of [calls, calls.toReversed(), [calls[0], calls[0]]] as const) {
        const groups = [one, next].map((each): CallGroup => ({ calls: [each as Call] }))
        const answers = await bench.list(groups, START + 2)
        expect(answers.map(({ outcome }) => outcome === 'allowed')).toEqual([one === calls[1], next === calls[1]])
      }
    })

    it('does not mix up what it answered: verdicts last', async () => {
      const key = fresh()
      const answers = [await decide([call(key, ten, 4)], START), await decide([call(key, ten, 4)], START)]
      expect(answers).toMatchObject([{ calls: [{ remaining: 6 }] }, { calls: [{ remaining: 2 }] }])
    })
  })
}
