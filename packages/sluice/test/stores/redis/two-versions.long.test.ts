import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis, type RedisPort } from '../../../src/stores/redis/index.ts'
import type { CallGroup, Change, Store, StoreFailure } from '../../../src/stores/store.ts'
import { audit, type TraceEntry } from '../../../src/testing.ts'
import { until } from '../../faults/until.ts'
import { idleLimit } from '../families/idle-window.ts'
import { nextVersion } from './next-version.ts'

const { redis: url } = inject('engines')
const LIMITS: readonly AnyLimit[] = [
  tokenBucket({ rate: '50/s', burst: 20 }),
  fixedWindow({ limit: 20, window: '1s' }),
  slidingWindowCounter({ limit: 20, window: '1s' }),
  slidingWindowLog({ limit: 20, window: '1s' }),
  idleLimit(20, 1),
]
const LAYOUTS = [['plain'], ['packed']] as const

describe.skipIf(url === undefined).each(LAYOUTS)('the next version while today’s serves, %s layout', (layout) => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const later = new Redis(url ?? '', { lazyConnect: true })
  beforeAll(async () => {
    await Promise.all([redis.connect(), later.connect()])
  })
  afterAll(async () => {
    await Promise.all([redis.quit(), later.quit()])
  })
  const prefix = (name: string): string => `two-${process.pid}-${layout}-${name}:`
  const open = (name: string, client: RedisPort): Store => bareRedisStore({ client, prefix: prefix(name), layout })
  const groupOf = (limit: AnyLimit, key: string): CallGroup => {
    return { calls: [{ id: { scope: { text: `two:${limit.algorithm.tag}:` }, key }, limit, cost: 1_000_000, phase: 0 }] }
  }

  /** Today's version serves calls first, then both versions, then the next version alone. Returns what was decided, and the failures. */
  async function underLoad(name: string, states: 'same' | 'new') {
    const seen = new Map(LIMITS.map((limit) => [limit, { entries: [] as TraceEntry[], later: 0 }]))
    const failures: StoreFailure[] = []
    const state = { today: true, next: true }
    const caller = async (store: Store, version: 'today' | 'next'): Promise<void> => {
      for (let turn = 0; state[version]; turn += 1) {
        const limit = LIMITS[turn % LIMITS.length] as AnyLimit
        // Alone, and in groups with a state of each other algorithm.
        const group = groupOf(limit, 'load')
        const calls = turn % 3 === 0 ? [...group.calls, ...LIMITS.flatMap((other) => groupOf(other, 'other').calls)] : group.calls
        const [verdict] = await store.decide([{ calls }]).catch((error: unknown) => {
          state.today = state.next = false
          throw error
        })
        if (verdict?.failure !== undefined) failures.push(verdict.failure)
        else {
          const own = seen.get(limit) as { entries: TraceEntry[]; later: number }
          own.entries.push({ at: verdict?.at ?? Number.NaN, cost: 1, allowed: verdict?.outcome === 'allowed' })
          if (version === 'next' && verdict?.outcome === 'allowed') own.later += 1
        }
      }
    }
    const count = (): number => failures.length + [...seen.values()].reduce((sum, { entries }) => sum + entries.length, 0)
    const reaches = async (many: number): Promise<void> => {
      while (count() < many && state.next) await new Promise((resolve) => setImmediate(resolve))
    }
    const today = open(name, ioredis(redis))
    const next = open(name, nextVersion(ioredis(later), states))
    const callers = [caller(today, 'today'), caller(today, 'today'), caller(today, 'today')]
    await reaches(200)
    callers.push(caller(next, 'next'), caller(next, 'next'), caller(next, 'next'))
    await reaches(count() + 800)
    state.today = false
    // The next version is alone now: first its calls are denied, then it admits what is refilled.
    await reaches(count() + 200)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    // If this process did not run meanwhile, that takes longer.
    const isAdmitted = async (): Promise<boolean> => !state.next || [...seen.values()].every(({ later: passed }) => passed > 0)
    await until('the next version admits calls of each limit', isAdmitted).finally(() => (state.next = false))
    await Promise.all(callers)
    return { seen, failures, today, next }
  }

  it('with programs of another text: together they admit no more than the limits, and no call fails', async () => {
    const { seen, failures } = await underLoad('same', 'same')
    expect(failures).toEqual([])
    for (const [limit, { entries, later: passed }] of seen) {
      expect([limit.algorithm.tag, audit(entries, limit).overGrant, passed > 0]).toEqual([limit.algorithm.tag, 0, true])
    }
  })

  it('with a new form of each state: it goes on where today’s left off, whose calls then fail as setup and charge nothing', async () => {
    const { seen, failures, today, next } = await underLoad('new', 'new')
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'setup', executed: 'no' })
    for (const [limit, { entries, later: passed }] of seen) {
      expect([limit.algorithm.tag, audit(entries, limit).overGrant, passed > 0]).toEqual([limit.algorithm.tag, 0, true])
    }
    for (const limit of LIMITS.map((one) => slow(one))) {
      const group = groupOf(limit, 'slow')
      const [call] = group.calls
      const remaining = async (store: Store, charge = true): Promise<number | undefined> =>
        (await store.decide([group], { charge }))[0]?.calls?.[0]?.remaining
      expect([await remaining(today), await remaining(next), await remaining(today), await remaining(next, false)]).toEqual([
        19,
        18,
        undefined,
        18,
      ])
      if (call === undefined) continue
      const changes: Change[] = [
        { kind: 'adjust', call, amount: 1_000_000 },
        { kind: 'block', id: call.id, micros: 1_000 },
      ]
      for (const result of await today.change(changes)) expect(result).toMatchObject({ failure: { kind: 'setup', executed: 'no' } })
      expect(await next.change([changes[0] as Change])).toEqual([{}])
      expect(await remaining(next, false)).toBe(19)
      if (limit.algorithm.tag !== 'tb') continue
      // Absent in the packed layout.
      const request = { call, want: 5_000_000, holder: 7, sequence: 1, life: 60_000_000, kept: 0, returned: 0 }
      const granted = async (store: Store): Promise<number> => (await store.lease?.([request]))?.[0]?.granted ?? 0
      expect([await granted(today), await granted(next)]).toEqual(layout === 'packed' ? [0, 0] : [0, 5_000_000])
    }
  })
})

/** A limit of the same algorithm and burst, so slow that nothing is refilled during the test. */
function slow({ algorithm: { tag } }: AnyLimit): AnyLimit {
  if (tag === 'tb') return tokenBucket({ rate: '1/day', burst: 20 })
  if (tag === 'fw') return fixedWindow({ limit: 20, window: '300d' })
  if (tag === 'sc') return slidingWindowCounter({ limit: 20, window: '300d' })
  return tag === 'sl' ? slidingWindowLog({ limit: 20, window: '300d' }) : idleLimit(20, 86_400)
}
