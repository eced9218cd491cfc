import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import type { Call } from '../../../src/stores/store.ts'
import { anyLimit } from '../../../src/testing/any-limit.ts'
import { LIMITS, type TimedTag } from '../../../src/testing/limits.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { FRESH, ownStore } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const START = 1_763_692_800_123_456
const KEYS = draws(240, 80)

describe.skipIf(url === undefined)('X7: when a row may be swept', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)

  it('is the first instant from which the state equals the initial one: any limit, changed, refunded and blocked', async () => {
    const random = seeded(20_261_122)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    const reference = new Reference()
    const blocks = new Map<string, number>()
    const calls: Call[] = []
    for (let key = 0; key < KEYS; key += 1) {
      const tag = pick(LIMITS).algorithm.tag as TimedTag
      const id = { scope: { text: `fresh:${tag}:` }, key: `k${key}` }
      let [now, limit] = [START, anyLimit(tag, random)]
      // Half of the keys get small costs: a window in which little was charged is remembered for a shorter time.
      const part = random() < 0.5 ? 3 : 12
      for (let left = Math.ceil(random() * 4); left > 0; left -= 1) {
        if (random() < 0.3) limit = anyLimit(tag, random)
        const call = { id, limit, cost: Math.max(1, Math.round(limit.capacity * 1e6 * random() ** part)), phase: 0 }
        calls[key] = call
        if (random() < 0.7) {
          await verbs.decide(store, [{ calls: [call] }], { now })
          reference.decide({ calls: [call] }, now)
        } else {
          const amount = random() < 0.5 ? call.cost : -call.cost
          await verbs.adjust(store, [call], [amount], { now })
          reference.adjust([call], [amount], { now })
        }
        now += Math.floor(random() ** 4 * 1e9)
      }
      if (random() > 0.2) continue
      const duration = Math.ceil(random() ** 4 * 1e12)
      await verbs.block(store, [id], duration, { now })
      blocks.set(digestOf(id), now + duration)
    }
    const { rows } = await pool.query<{ id: string; fresh: string }>(
      `select replace(t.id::text, '-', '') as id, ${FRESH} as fresh
        from sluice_state t left join sluice_plan p on p.plan_id = t.plan_id`,
    )
    const found = new Map(rows.map(({ id, fresh }) => [id, Number(fresh)]))
    const states = new Map([...reference.states.values()].map(({ id, expires }) => [digestOf(id), expires]))
    const names = calls.map(({ id }) => digestOf(id)).filter((name) => states.has(name) || blocks.has(name))
    const expected = new Map(names.map((name) => [name, Math.max(states.get(name) ?? 0, blocks.get(name) ?? 0)]))
    expect(expected.size).toBeGreaterThan(KEYS / 2)
    expect(found).toEqual(expected)
    const { rows: strays } = await pool.query(
      'select count(*)::int as many from sluice_log e left join sluice_state s on s.id = e.id where s.kind is distinct from 3',
    )
    expect(strays).toEqual([{ many: 0 }])
  })
})
