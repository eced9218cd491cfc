import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type AnyLimit, tokenBucket } from '../../../src/index.ts'
import { barePostgresStore, pg } from '../../../src/stores/postgres/index.ts'
import type { Call, CallGroup } from '../../../src/stores/store.ts'
import { changeBoth, decideBoth, START } from '../../../src/testing/store-suite/bench.ts'
import { heldGroup, settlementOf } from '../../../src/testing/store-suite/held.ts'
import { LIMITS } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'

const { postgres: url } = inject('engines')
const SECOND = 1_000_000
const BUCKETS: readonly AnyLimit[] = [...LIMITS.filter(({ algorithm }) => algorithm.tag === 'tb'), tokenBucket({ rate: '7/s', burst: 40 })]

describe.skipIf(url === undefined)('reservations of many callers in one statement', () => {
  const { pool, open, close } = ownStore(url, 4)
  const port = pg(pool)
  const sent: string[] = []
  const query: typeof port.query = (text, values) => {
    sent.push(/\bsluice_([a-z_]+)_[0-9a-f]{8}\(/.exec(text)?.[1] ?? '')
    return port.query(text, values)
  }
  const store = barePostgresStore({ client: { ...port, query }, sweepEveryMs: 0 })
  beforeAll(open)
  afterAll(close)

  const call = (limit: AnyLimit, key: string, cost: number): Call => ({ id: { scope: { text: 'many:tb:' }, key }, limit, cost, phase: 0 })

  it('are decided and recorded as by the reference, over limits that change, and time that steps back', async () => {
    const random = seeded(17)
    const pair = { store, reference: new Reference() }
    const outcomes = new Set<string>()
    let [now, limit] = [START, BUCKETS[0] as AnyLimit]
    for (let step = 0; step < draws(400, 40); step += 1) {
      now += random() < 0.2 ? -Math.floor(random() * SECOND) : Math.floor(random() ** 3 * 60 * SECOND)
      if (random() < 0.2) limit = BUCKETS[Math.floor(random() * BUCKETS.length)] as AnyLimit
      const most = random() < 0.9 ? 0.5 : 1.5
      const alike = random() < 0.5 ? SECOND : undefined
      const groups = Array.from({ length: 6 + Math.floor(random() * 4) }, (_, index): CallGroup => {
        const cost = alike ?? Math.max(1, Math.round(random() * most * limit.capacity * SECOND))
        return heldGroup([call(limit, `k${index}`, cost)], random() < 0.02 ? 'again' : `${step}`, 60 * SECOND)
      })
      const [verdicts, expected] = await decideBoth(pair, groups, now)
      expect(verdicts).toEqual(expected)
      for (const { outcome } of expected) outcomes.add(outcome as string)
      for (const { id } of groups.flatMap(({ calls }) => calls)) {
        expect([id, await readRow(port, id)]).toEqual([id, pair.reference.numbersOf(id)])
      }
      const ended = groups.slice(0, Math.floor(random() * 10))
      const changes = ended.map(({ calls: [held, record] }) => {
        const used = Math.floor(random() * 1.3 * (held as Call).cost)
        return { ...settlementOf([held as Call], `${step}`, used), id: (record as Call).id }
      })
      if (changes.length > 0) await changeBoth(pair, changes, now + Math.floor(random() * SECOND))
      for (const { id } of ended.flatMap(({ calls }) => calls)) {
        expect([id, await readRow(port, id)]).toEqual([id, pair.reference.numbersOf(id)])
      }
    }
    expect([...outcomes].toSorted()).toEqual(['allowed', 'denied', 'impossible'])
    expect(sent.filter((name) => name === 'reserve').length).toBeGreaterThan(sent.length / 4)
  })

  it('are charged once if several connections make the same ones at once', async () => {
    const limit = tokenBucket({ rate: '1/day', burst: 100 })
    const groups = Array.from({ length: 8 }, (_, index) => heldGroup([call(limit, `same${index}`, SECOND)], 'first', 60 * SECOND))
    await store.decide(groups)
    for (let round = 0; round < 20; round += 1) {
      const again = Array.from({ length: 8 }, (_, index) => heldGroup([call(limit, `same${index}`, SECOND)], `r${round}`, 60 * SECOND))
      const all = await Promise.all(Array.from({ length: 4 }, () => store.decide(again)))
      for (let index = 0; index < again.length; index += 1) {
        const outcomes = all.map((verdicts) => verdicts[index]?.outcome)
        expect(outcomes.filter((outcome) => outcome === 'allowed')).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome === 'denied')).toHaveLength(3)
      }
    }
    const [left] = await store.decide([{ calls: [call(limit, 'same0', SECOND)] }], { charge: false })
    expect(left?.calls?.[0]?.remaining).toBe(79)
  })
})
