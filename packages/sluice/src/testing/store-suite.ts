import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyLimit } from '../algorithms/algorithm.ts'
import { microCost } from '../algorithms/decimal.ts'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import { type Call, type CallGroup, type GroupVerdict, type StateId, type Store, StoreFailure } from '../stores/store.ts'
import type { Micros } from '../time/micros.ts'
import { systemTime } from '../time/system.ts'
import { audit } from './audit.ts'
import { Reference } from './reference.ts'
import { traces } from './traces.ts'

export interface StoreSuiteOptions {
  /** Opens a store that shares nothing with other suites. */
  open(): Promise<Store>
  /** The numbers of a state as stored (the codec's), for the comparison of states; undefined where there is none. */
  readState(id: StateId): Promise<readonly number[] | undefined>
  /** Cleans up what `open` made, after the store was closed. */
  close?(): Promise<void>
  /** Calls of the differential test; default 100,000. */
  readonly differentialCalls?: number
}

const SCOPE = { text: 's:' }
const START: Micros = 1_763_692_800_123_456
/** About one in so many calls of the differential test is also looked at, before it is made. */
const PEEK_EVERY = 1_000
const ten = tokenBucket({ rate: '10/s', burst: 10 })
const one = tokenBucket({ rate: '1/s', burst: 1 })

/** Registers, with vitest, what every store and every wrapper must do: the laws, atomicity, failures, and the kernel replayed. */
export function storeSuite(name: string, options: StoreSuiteOptions): void {
  describe(`store suite: ${name}`, () => {
    let store: Store
    let made = 0
    beforeAll(async () => {
      store = await options.open()
    })
    afterAll(async () => {
      await store?.close()
      await options.close?.()
    })
    const fresh = (): string => `suite${(made += 1)}`
    const call = (key: string, limit: AnyLimit = ten, cost = 1): Call => ({
      id: { scope: SCOPE, key },
      limit,
      cost: microCost(cost),
      phase: 0,
    })
    const ask = async (calls: readonly Call[], now: Micros): Promise<GroupVerdict> => {
      const [verdict] = await store.consume([{ calls }], { now })
      return verdict as GroupVerdict
    }

    it('is ready', () => store.ready())

    it('answers nothing for no group', async () => {
      expect(await store.consume([])).toEqual([])
    })

    it('counts down, denies with the exact wait, and passes after it and not a microsecond before', async () => {
      const key = fresh()
      const left: number[] = []
      for (let index = 0; index < 10; index += 1) left.push((await ask([call(key)], START)).calls[0]?.remaining as number)
      expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
      const denied = await ask([call(key)], START)
      expect(denied).toMatchObject({
        outcome: 'denied',
        allowed: false,
        at: START,
        calls: [{ retryAfter: 100_000, remaining: 0, resetAfter: 1_000_000 }],
      })
      expect((await ask([call(key)], START + 99_999)).outcome).toBe('denied')
      expect((await ask([call(key)], START + 100_000)).outcome).toBe('allowed')
    })

    it('law 1: a denied group charges none of its limits, in whatever order they stand', async () => {
      const [wide, narrow] = [fresh(), fresh()]
      await ask([call(narrow, one)], START)
      for (const calls of [
        [call(wide), call(narrow, one)],
        [call(narrow, one), call(wide)],
      ]) {
        expect((await ask(calls, START)).outcome).toBe('denied')
      }
      expect(await ask([call(wide, ten, 10)], START)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
    })

    it('law 1: the same state twice in a group is seen in order', async () => {
      const key = fresh()
      expect(await ask([call(key, ten, 4), call(key, ten, 6)], START)).toMatchObject({
        outcome: 'allowed',
        calls: [{ remaining: 6 }, { remaining: 0 }],
      })
      expect((await ask([call(key, ten, 1), call(key, ten, 1)], START + 150_000)).outcome).toBe('denied')
      expect((await ask([call(key, ten, 1), call(key, ten, 1)], START + 200_000)).outcome).toBe('allowed')
    })

    it('decides groups of one call in order, each on its own', async () => {
      const key = fresh()
      const groups: CallGroup[] = Array.from({ length: 12 }, () => ({ calls: [call(key)] }))
      const verdicts = await store.consume(groups, { now: START })
      expect(verdicts.map((verdict) => verdict.allowed)).toEqual([...Array<boolean>(10).fill(true), false, false])
    })

    it('law 2: a cost above the capacity is impossible and touches nothing', async () => {
      const key = fresh()
      expect(await ask([call(key, ten, 10.000001)], START)).toMatchObject({
        outcome: 'impossible',
        calls: [{ outcome: 'impossible', retryAfter: 0, remaining: 10 }],
      })
      expect(await options.readState({ scope: SCOPE, key })).toBeUndefined()
    })

    it('law 3: time that runs backwards mints nothing and locks for no longer than the step', async () => {
      const key = fresh()
      await ask([call(key, ten, 5)], START)
      expect(await ask([call(key)], START - 1_000_000)).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 4 }] })
      expect((await ask([call(key, ten, 5)], START)).outcome).toBe('denied')
      expect((await ask([call(key, ten, 4)], START)).outcome).toBe('allowed')
    })

    it('law 7: a changed limit is no gift, and its conversion is written even on a denial', async () => {
      const key = fresh()
      const larger = tokenBucket({ rate: '1/s', burst: 100 })
      await ask([call(key, ten, 8)], START)
      expect(await ask([call(key, larger, 3)], START)).toMatchObject({
        outcome: 'denied',
        calls: [{ remaining: 2, retryAfter: 1_000_000 }],
      })
      expect((await ask([call(key, larger, 4)], START + 1_000_000)).outcome).toBe('denied')
      expect((await ask([call(key, larger, 3)], START + 1_000_000)).outcome).toBe('allowed')
    })

    it('looks at several groups as charging them in turn would find them', async () => {
      const key = fresh()
      const groups: CallGroup[] = Array.from({ length: 3 }, () => ({ calls: [call(key, ten, 4)] }))
      const seen = await store.peek(groups, { now: START })
      expect(seen.map((verdict) => verdict.allowed)).toEqual([true, true, false])
      expect((await ask([call(key, ten, 10)], START)).outcome).toBe('allowed')
    })

    it('looks without charging', async () => {
      const key = fresh()
      await ask([call(key, ten, 3)], START)
      for (let index = 0; index < 2; index += 1) {
        const [seen] = await store.peek([{ calls: [call(key, ten, 7)] }], { now: START })
        expect(seen).toMatchObject({ outcome: 'allowed', calls: [{ remaining: 0 }] })
      }
      expect(await ask([call(key, ten, 7)], START)).toMatchObject({ outcome: 'allowed' })
    })

    it('forgets what is reset, and nothing else', async () => {
      const [key, other] = [fresh(), fresh()]
      await ask([call(key, ten, 10), call(other, ten, 10)], START)
      await store.reset([{ scope: SCOPE, key }])
      expect((await ask([call(key, ten, 10)], START)).outcome).toBe('allowed')
      expect((await ask([call(other)], START)).outcome).toBe('denied')
    })

    it('keeps keys apart that look alike', async () => {
      const key = fresh()
      await ask([call(`${key}:a`, one)], START)
      for (const other of [`${key}:A`, `${key}:a:`, key, `${key}:%0061`])
        expect((await ask([call(other, one)], START)).outcome).toBe('allowed')
    })

    it('admits exactly the burst to 300 callers at once', async () => {
      const key = fresh()
      const verdicts = await Promise.all(Array.from({ length: 300 }, () => ask([call(key)], START)))
      expect(verdicts.filter((verdict) => verdict.allowed)).toHaveLength(10)
    })

    it('law 5: on its own clock, no interval of store time admits more than burst + rate * t', async () => {
      const key = fresh()
      const limit = tokenBucket({ rate: '200/s', burst: 10 })
      const seen: { at: Micros; cost: number; allowed: boolean }[] = []
      const until = systemTime.monotonic() + 300
      const caller = async (): Promise<void> => {
        while (systemTime.monotonic() < until) {
          const [verdict] = await store.consume([{ calls: [call(key, limit)] }])
          seen.push({ at: (verdict as GroupVerdict).at, cost: 1, allowed: (verdict as GroupVerdict).allowed })
        }
      }
      await Promise.all(Array.from({ length: 8 }, caller))
      expect(audit(seen, limit).overGrant).toBe(0)
      expect(seen.filter((entry) => entry.allowed).length).toBeGreaterThan(20)
    })

    it('rejects with a StoreFailure, unexecuted, once the deadline has passed or the caller has left', async (context) => {
      context.skip(store.capabilities.clock === 'caller', 'a store in this process answers at once: there is nothing to wait for')
      const calls = [call(fresh())]
      const late = store.consume([{ calls }], { deadline: systemTime.monotonic() - 1 })
      await expect(late).rejects.toSatisfy((error) => error instanceof StoreFailure && error.kind === 'timeout' && error.executed === 'no')
      const left = store.consume([{ calls }], { signal: AbortSignal.abort() })
      await expect(left).rejects.toSatisfy((error) => error instanceof StoreFailure && error.kind === 'aborted' && error.executed === 'no')
      expect((await store.consume([{ calls }], { deadline: systemTime.monotonic() + 5_000 }))[0]?.outcome).toBe('allowed')
    })

    it('replays the kernel: identical decisions and states on random traces', async () => {
      const total = options.differentialCalls ?? 100_000
      const reference = new Reference()
      let compared = 0
      for (const { now, groups } of traces(20_261_121, total)) {
        if (compared % PEEK_EVERY < groups.length) {
          const looking = new Reference(reference.states)
          const seen = await store.peek(groups, { now })
          expect(seen.map(({ outcome, allowed, at, calls }) => ({ outcome, allowed, at, calls }))).toEqual(
            groups.map((group) => looking.decide(group, now)),
          )
        }
        const expected = groups.map((group) => reference.decide(group, now))
        const verdicts = await store.consume(groups, { now })
        const actual = verdicts.map(({ outcome, allowed, at, calls }) => ({ outcome, allowed, at, calls }))
        if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected)
        compared += groups.reduce((sum, { calls }) => sum + calls.length, 0)
      }
      expect(compared).toBeGreaterThanOrEqual(total)
      for (const { id, numbers } of reference.states.values()) expect(await options.readState(id)).toEqual(numbers)
    }, 120_000)
  })
}
