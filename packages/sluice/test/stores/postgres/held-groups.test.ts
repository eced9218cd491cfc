import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AnyLimit, concurrency, fixedWindow, slidingWindowCounter, slidingWindowLog, tokenBucket } from '../../../src/index.ts'
import { remoteStore } from '../../../src/remote.ts'
import { barePostgresStore, pg } from '../../../src/stores/postgres/index.ts'
import { type Call, type CallGroup, type Change, type Decided, isOfHold } from '../../../src/stores/store.ts'
import { changeBoth, decideBoth, peekBoth, START } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, recordOf, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { phaseOf } from '../../../src/limiter/phase.ts'
import { HOLD_TAG } from '../../../src/algorithms/hold-record.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { scopesOf } from '../../../src/testing/traces.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const SECOND = 1_000_000
const SLOTS: readonly AnyLimit[] = [
  concurrency({ limit: 3, holdMs: 10_000 }),
  concurrency({ limit: 6, holdMs: 2_000 }),
  concurrency({ limit: '4.5', holdMs: 500 }),
]
const TIMED: readonly AnyLimit[] = [
  tokenBucket({ rate: '7/s', burst: 13 }),
  tokenBucket({ rate: '100/min', burst: 20 }),
  tokenBucket({ rate: '333.333333/s', burst: '2.5' }),
  fixedWindow({ limit: 10, window: '1s' }),
  fixedWindow({ limit: 7, window: '7s', align: 'first' }),
  fixedWindow({ limit: 20, window: '30s', ramp: '10s' }),
  slidingWindowCounter({ limit: 10, window: '1s' }),
  slidingWindowCounter({ limit: 7, window: '7s' }),
  slidingWindowLog({ limit: 10, window: '1s' }),
]
const SCOPES = scopesOf('held')

describe.skipIf(url === undefined)('groups with slots and records of holds', () => {
  const { pool, open, close } = ownStore(url, 6)
  const port = pg(pool)
  const sent: string[] = []
  const errors: (string | undefined)[] = []
  const query: typeof port.query = (text, values) => {
    sent.push(text)
    return port.query(text, values).catch((error: { readonly code?: string }) => {
      errors.push(error.code)
      throw error
    })
  }
  const store = barePostgresStore({ client: { ...port, query }, sweepEveryMs: 0 })
  /** The functions that were called, or how the statement begins. */
  const functionsSent = (): string[] =>
    sent.splice(0).map((text) => /\bsluice_([a-z_]+)_[0-9a-f]{8}\(/.exec(text)?.[1] ?? text.slice(0, 20))
  beforeAll(open)
  afterAll(close)

  const call = (key: string, limit: AnyLimit, cost = 1): Call => ({
    id: { scope: SCOPES[limit.algorithm.tag], key },
    limit,
    cost: Math.round(cost * SECOND),
    phase: phaseOf(limit, key),
  })

  it('slots are taken and given back by one statement each, however many callers', async () => {
    const limit = concurrency({ limit: 5, holdMs: 1_000 })
    const ids = Array.from({ length: 8 }, (_, index) => `h${index}`)
    sent.length = 0
    const verdicts = await verbs.decide(
      store,
      ids.map((id) => ({ calls: [call('many', limit)], options: { hold: { id } } })),
    )
    expect(verdicts.map(({ outcome }) => outcome)).toEqual([...Array<string>(5).fill('allowed'), ...Array<string>(3).fill('denied')])
    expect(functionsSent()).toEqual(['consume'])
    await verbs.change(
      store,
      ids.map((holder) => ({ kind: 'release', call: call('many', limit), holder })),
    )
    expect(functionsSent()).toEqual(['release'])
    expect(await verbs.peek(store, [{ calls: [call('many', limit)] }])).toMatchObject([{ calls: [{ remaining: 5 }] }])
  })

  it('slots that callers give back at once are one statement through the ring', async () => {
    const ring = remoteStore(store, { deadline: 10_000 })
    const one = call('ring', concurrency({ limit: 9, holdMs: 60_000 }))
    const holders = Array.from({ length: 9 }, (_, index) => `r${index}`)
    await verbs.decide(
      ring,
      holders.map((id) => ({ calls: [one], options: { hold: { id } } })),
    )
    functionsSent()
    await Promise.all(holders.map((holder) => verbs.change(ring, [{ kind: 'release', call: one, holder }])))
    expect(functionsSent()).toEqual(['release'])
    expect(await verbs.peek(store, [{ calls: [one] }])).toMatchObject([{ calls: [{ remaining: 9 }] }])
    await ring.close()
  })

  it('a hold is charged, extended and settled by one statement each, over several limits', async () => {
    const limits = [tokenBucket({ rate: '1/day', burst: 9 }), fixedWindow({ limit: 9, window: '1d' }), SLOTS[0] as AnyLimit]
    const calls = limits.map((limit) => call('parts', limit))
    functionsSent()
    await verbs.decide(store, [heldGroup(calls, 'one', 60 * SECOND), heldGroup(calls, 'two', 60 * SECOND)])
    const extension: Change = { kind: 'extend', id: recordOf('parts', 'one'), calls, holder: 'one', micros: 90 * SECOND }
    const ends = [settlementOf(calls, 'one', 0), settlementOf(calls, 'two', undefined)]
    expect(await store.change([extension])).toMatchObject([{ hold: { status: 'open' } }])
    expect(await store.change(ends)).toMatchObject([{ hold: { status: 'settled' } }, { hold: { status: 'settled' } }])
    expect(functionsSent()).toEqual(['consume', 'settle', 'settle'])
    const [{ calls: views }] = (await verbs.peek(store, [{ calls }])) as [Decided]
    expect(views.map(({ remaining }) => remaining)).toEqual([8, 8, 3])
  })

  it('extended slots end behind those that end no later, and a counter is charged beyond its share as by the kernel', async () => {
    const reference = new Reference()
    const pair = { store, reference }
    const calls = [
      call('longer', concurrency({ limit: 9, holdMs: 1_000 })),
      call('longer', slidingWindowCounter({ limit: 10, window: '7s' })),
      call('longer', tokenBucket({ rate: '2/s', burst: 10 })),
    ]
    const held = (id: string, micros: number): CallGroup => heldGroup(calls, id, micros)
    await decideBoth(
      pair,
      [held('past', 1), held('a', 3 * SECOND), held('b', 4 * SECOND), held('c', 5 * SECOND), held('d', 6 * SECOND)],
      START,
    )
    for (const [id, micros] of [
      ['b', 4 * SECOND],
      ['a', 5 * SECOND],
      ['a', SECOND],
      ['d', SECOND],
      ['past', SECOND],
      ['b', 9 * SECOND],
    ] as const) {
      await changeBoth(pair, [{ kind: 'extend', id: recordOf('longer', id), calls, holder: id, micros }], START + 1)
      for (const { id: own } of calls) expect(await readRow(port, own)).toEqual(reference.numbersOf(own))
    }
    // Two settlements: one hold used exactly what was held. For the other, the bucket has no room for what would be given back.
    for (const [id, used, at] of [
      ['c', 1, 2],
      ['a', 0, 5],
    ] as const) {
      await changeBoth(pair, [settlementOf(calls, id, used * SECOND)], START + at * SECOND)
      for (const { id: own } of calls) expect(await readRow(port, own)).toEqual(reference.numbersOf(own))
    }
    // In the next window of the counter, the previous one still counts in part. So only a part of what was used can be charged.
    await decideBoth(pair, [held('e', SECOND)], START + 8 * SECOND)
    for (const [id, used] of [
      ['b', 3.5],
      ['e', 40],
    ] as const) {
      await changeBoth(pair, [settlementOf(calls, id, used * SECOND)], START + 8 * SECOND)
      for (const { id: own } of calls) expect(await readRow(port, own)).toEqual(reference.numbersOf(own))
    }
  })

  it('holds and slots of several limits, from all sides at once: no deadlock, and nothing is lost', async () => {
    const wide = tokenBucket({ rate: '1/day', burst: 1_000 })
    const slots = concurrency({ limit: 100, holdMs: 600_000 })
    const names = ['w', 'x', 'y', 'z']
    // A record names its limits by their scopes.
    const named = (name: string, limit: AnyLimit, cost?: number): Call => {
      return { ...call('all', limit, cost), id: { scope: { text: `${name}:${limit.algorithm.tag}:` }, key: 'all' } }
    }
    errors.length = 0
    const turn = async (index: number): Promise<void> => {
      const order = names.map((_, at) => names[(at * (index % 2 === 0 ? 1 : 3) + index) % 4] as string)
      const calls = order.flatMap((name) => [named(name, wide, 2), named(name, slots)])
      const [verdict] = await verbs.decide(store, [heldGroup(calls, `all${index}`, 600 * SECOND)])
      expect(verdict?.outcome).toBe('allowed')
      const [result] = await store.change([settlementOf(calls, `all${index}`, SECOND)])
      expect(result?.hold?.status).toBe('settled')
    }
    const turns = draws(60, 12)
    await Promise.all(Array.from({ length: turns }, (_, index) => turn(index)))
    const calls = names.flatMap((name) => [named(name, wide), named(name, slots)])
    const [{ calls: views }] = (await verbs.peek(store, [{ calls }])) as [Decided]
    expect(views.map(({ remaining }) => remaining)).toEqual(names.flatMap(() => [1_000 - turns, 100]))
    expect(errors).not.toContain('40P01')
  })

  it('are decided and changed as by the kernels: with every algorithm, changed limits, blocks, and time that steps back', async () => {
    const random = seeded(20_261_123)
    const pick = (count: number): number => Math.floor(random() * count)
    const oneOf = <T>(from: readonly T[]): T => from[pick(from.length)] as T
    const reference = new Reference()
    const pair = { store, reference }
    const keys = ['a', 'b', 'c']
    const limits = [...SLOTS, ...TIMED]
    const kept = new Map<string, AnyLimit>()
    const drawn = (key: string): Call => {
      const limit = oneOf(limits)
      const name = limit.algorithm.tag + key
      if (!kept.has(name) || random() < 0.15) kept.set(name, limit)
      const own = kept.get(name) as AnyLimit
      return call(key, own, random() < 0.9 ? random() * 0.4 * own.capacity + 0.1 : random() * 1.3 * own.capacity)
    }
    const distinct = (calls: readonly Call[]): Call[] => [...new Map(calls.map((one) => [one.id.scope.text, one])).values()]
    const holds: { calls: readonly Call[]; id: string }[] = []
    const found = new Map<string, number>()
    const compared = new Map<string, readonly number[]>()
    const count = (what: string): unknown => found.set(what, (found.get(what) ?? 0) + 1)
    let [now, made] = [START, 0]
    const group = (): CallGroup => {
      const key = oneOf(keys)
      const calls = distinct(Array.from({ length: 1 + pick(3) }, () => drawn(key)))
      if (random() < 0.4) {
        const id = random() < 0.2 && holds.length > 0 ? oneOf(holds).id : `t${(made += 1)}`
        holds.push({ calls, id })
        if (holds.length > 6) holds.shift()
        return heldGroup(calls, id, pick(8) * SECOND + 1)
      }
      const hold = { id: `h${pick(12)}`, ...(random() < 0.3 ? { micros: 1 + pick(3 * SECOND) } : {}) }
      if (random() < 0.1) return { calls: [...calls, calls[0] as Call], options: { hold } }
      return random() < 0.1 ? { calls } : { calls, options: { hold, ...(random() < 0.2 ? { maxWait: SECOND } : {}) } }
    }
    const changeOf = (): Change => {
      const held = oneOf(holds)
      const kind = pick(12)
      const [first] = held.calls as readonly [Call]
      if (kind < 6)
        return settlementOf(
          held.calls,
          held.id,
          pick(5) === 0 ? undefined : Math.floor(random() ** 2 * (random() < 0.3 ? 60 : 3) * first.cost),
        )
      if (kind < 8)
        return { kind: 'extend', id: recordOf(first.id.key, held.id), calls: held.calls, holder: held.id, micros: pick(9 * SECOND) }
      const one = call(oneOf(keys), oneOf(SLOTS))
      if (kind < 11) return { kind: 'release', call: one, holder: random() < 0.3 ? held.id : `h${pick(12)}` }
      return oneOf<Change>([
        { kind: 'block', id: one.id, micros: pick(SECOND) },
        { kind: 'unblock', id: one.id },
        { kind: 'adjust', call: one, amount: SECOND },
      ])
    }
    for (let turn = 0; turn < draws(1_500, 130); turn += 1) {
      now += random() < 0.1 ? -pick(SECOND) : Math.floor(random() ** 4 * 3 * SECOND)
      // Calls of one state have one limit in one store call.
      const groups = consistent(Array.from({ length: 1 + pick(4) }, group))
      if (random() < 0.1) await peekBoth(pair, groups, now)
      const [answers, expected] = await decideBoth(pair, groups, now)
      expect(answers).toEqual(expected)
      for (const { outcome } of answers) count(outcome)
      if (holds.length > 0) {
        const changes = Array.from({ length: 2 + pick(3) }, changeOf)
        for (const [index, { hold }] of (await changeBoth(pair, changes, now)).entries()) {
          const change = changes[index] as Change
          if (hold === undefined || !isOfHold(change)) continue
          count(hold.status)
          for (const [at, part] of hold.parts.entries()) {
            if (hold.repeated === true || hold.status !== 'settled' || part === undefined) continue
            const { tag } = (change.calls[at] as Call).limit.algorithm
            count(`${tag} ${part.overage > 0 ? 'over' : part.charged > part.held ? 'more' : part.charged < part.held ? 'less' : 'same'}`)
          }
        }
      }
      if (turn % 25 > 0) continue
      for (const [name, { id, numbers }] of reference.states) {
        // The number of records grows, and most of them do not change any more. So a record is compared again only if it has changed.
        if (compared.get(name) === numbers && id.scope.text.endsWith(`${HOLD_TAG}:`)) continue
        compared.set(name, numbers)
        expect([id, await readRow(port, id)]).toEqual([id, numbers])
      }
    }
    const settled = ['tb', 'fw', 'sc'].flatMap((tag) => ['over', 'more', 'less'].map((how) => `${tag} ${how}`))
    for (const what of ['allowed', 'denied', 'impossible', 'open', 'settled', 'expired', 'unknown', ...settled]) {
      expect([what, (found.get(what) ?? 0) > 0]).toEqual([what, true])
    }
  }, 120_000)
})

function consistent(groups: readonly CallGroup[]): CallGroup[] {
  const first = new Map<string, Call>()
  for (const { calls } of groups)
    for (const one of calls) {
      const name = `${one.id.scope.text} ${one.id.key}`
      if (!first.has(name)) first.set(name, one)
    }
  return groups.map((group) => ({
    ...group,
    calls: group.calls.map((one) => {
      const { limit, phase } = first.get(`${one.id.scope.text} ${one.id.key}`) as Call
      return one.limit.algorithm.note === undefined ? { ...one, limit, phase } : one
    }),
  }))
}
