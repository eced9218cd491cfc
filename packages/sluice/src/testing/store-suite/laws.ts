import { describe, expect, it } from 'vitest'
import { TENS, THREES, type TimedTag } from '../limits.ts'
import { type Bench, START } from './bench.ts'

export function lawsOn(tag: TimedTag, bench: Bench): void {
  const [ten, three] = [TENS[tag], THREES[tag]]
  const { decide, call, fresh } = bench

  describe(`on a ${ten.algorithm.name}`, () => {
    it('counts down, denies with the exact wait, and passes after it and not a microsecond before (law 4)', async () => {
      const key = fresh()
      const left: number[] = []
      for (let index = 0; index < 10; index += 1) left.push((await decide([call(key, ten)], START)).calls[0]?.remaining as number)
      expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
      const denied = await decide([call(key, ten)], START)
      expect(denied).toMatchObject({ outcome: 'denied', at: START, calls: [{ remaining: 0 }] })
      const wait = denied.calls[0]?.retryAfter as number
      expect(wait).toBeGreaterThan(0)
      expect((await decide([call(key, ten)], START + wait - 1)).outcome).toBe('denied')
      expect((await decide([call(key, ten)], START + wait)).outcome).toBe('allowed')
      await bench.sameState(call(key, ten).id)
    })

    it('law 1: a denied group charges nothing, and the same state twice is seen in order', async () => {
      const [wide, narrow] = [fresh(), fresh()]
      await decide([call(narrow, three, 3)], START)
      const both = [call(wide, ten), call(narrow, three)]
      for (const calls of [both, both.toReversed()]) expect((await decide(calls, START)).outcome).toBe('denied')
      expect(await bench.options.readState(call(wide, ten).id)).toBeUndefined()
      expect(await decide([call(wide, ten, 4), call(wide, ten, 6)], START)).toMatchObject({
        outcome: 'allowed',
        calls: [{ remaining: 6 }, { remaining: 0 }],
      })
    })

    it('law 2: a cost above the capacity is impossible and touches nothing', async () => {
      const key = fresh()
      expect(await decide([call(key, ten, 10.000001)], START)).toMatchObject({
        outcome: 'impossible',
        calls: [{ outcome: 'impossible', retryAfter: 0, remaining: 10 }],
      })
      expect(await bench.options.readState(call(key, ten).id)).toBeUndefined()
    })

    it('law 3: time that runs backwards mints nothing and locks for no longer than the step', async () => {
      const key = fresh()
      await decide([call(key, ten, 5)], START)
      expect(await decide([call(key, ten)], START - 1_000_000)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 4 }] })
      expect((await decide([call(key, ten, 5)], START)).outcome).toBe('denied')
      expect((await decide([call(key, ten, 4)], START)).outcome).toBe('allowed')
    })

    it('law 6: a spent state is forgotten, or equals the initial state', async () => {
      const [key, other] = [fresh(), fresh()]
      const { calls } = await decide([call(key, ten, 7)], START)
      const at = START + (calls[0]?.resetAfter as number)
      const whole = async (name: string): Promise<unknown> => (await decide([call(name, ten, 10)], at)).calls
      expect(await whole(key)).toEqual(await whole(other))
      await bench.sameState(call(key, ten).id)
    })

    it('law 7: a changed limit applies at the first call, mints nothing, and is written even on a denial', async () => {
      const key = fresh()
      await decide([call(key, ten, 9)], START)
      expect(await decide([call(key, three, 3)], START)).toMatchObject({ outcome: 'denied' })
      await bench.sameState(call(key, three).id)
      expect((await decide([call(key, ten, 2)], START)).outcome).toBe('denied')
      const there = await decide([call(key, three, 3)], START + 1)
      const wait = there.calls[0]?.retryAfter as number
      expect((await decide([call(key, three, 3)], START + wait)).outcome).toBe('denied')
      expect((await decide([call(key, three, 3)], START + 1 + wait)).outcome).toBe('allowed')
      await bench.sameState(call(key, three).id)
    })

    it('peeks without charging, and at several groups as charging them in turn would find them', async () => {
      const key = fresh()
      await decide([call(key, ten, 3)], START)
      for (let index = 0; index < 2; index += 1) {
        const seen = await bench.peek([call(key, ten, 7)], START)
        expect(seen).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 7 }] })
      }
      const groups = [3, 3, 3].map((cost) => ({ calls: [call(key, ten, cost)] }))
      expect((await bench.peekList(groups, START)).map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'denied'])
      expect(await decide([call(key, ten, 7)], START)).toMatchObject({ outcome: 'allowed' })
    })

    it('gives back and takes unconditionally', async (context) => {
      context.skip(!bench.can('adjust'), 'the store has no adjust')
      const key = fresh()
      await decide([call(key, ten, 8)], START)
      await bench.adjust(call(key, ten), 5, START)
      expect(await decide([call(key, ten, 1)], START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 6 }] })
      await bench.adjust(call(key, ten), -4, START)
      expect(await decide([call(key, ten, 1)], START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 1 }] })
      await bench.adjust(call(key, ten), -100, START)
      const denied = await decide([call(key, ten)], START)
      expect(denied).toMatchObject({ outcome: 'denied', calls: [{ remaining: 0 }] })
      expect((await decide([call(key, ten)], START + (denied.calls[0]?.retryAfter as number))).outcome).toBe('allowed')
      await bench.adjust(call(key, ten), 100, START + 30_000_000)
      const spent = fresh()
      await bench.adjust(call(spent, ten), -3, START)
      await decide([call(spent, ten, 7)], START)
    })

    it('gives nothing back for a charge whose window has ended', async (context) => {
      context.skip(!bench.can('adjust'), 'the store has no adjust')
      const key = fresh()
      await decide([call(key, ten, 5)], START)
      await decide([call(key, ten, 2)], START + 2_500_000)
      await bench.adjust(call(key, ten), 2, START + 2_600_000, START)
      await bench.adjust(call(key, ten), 1, START + 2_600_000, START + 2_500_000)
      await decide([call(key, ten, 10)], START + 2_600_000)
    })

    it('X7: gives back with a receipt of the first instant of a window, and not of the one before', async (context) => {
      context.skip(!bench.can('adjust'), 'the store has no adjust')
      const first = START - (START % 1_000_000)
      for (const receipt of [first, first - 1, first + 1]) {
        const key = fresh()
        await decide([call(key, ten, 5)], first)
        await bench.adjust(call(key, ten), 2, first + 500_000, receipt)
        await decide([call(key, ten, 1)], first + 500_000)
      }
    })
  })
}
