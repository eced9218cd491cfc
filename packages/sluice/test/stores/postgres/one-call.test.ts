import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { pg } from '../../../src/stores/postgres/index.ts'
import { traces } from '../../../src/testing.ts'
import { seeded } from '../../../src/testing/random.ts'
import { Reference } from '../../../src/testing/reference.ts'
import { ownStore, readRow } from '../../conformance/postgres-rows.ts'
import { draws } from '../../draws.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const CALLS = draws(2_500, 400)

const { postgres: url } = inject('engines')

describe.skipIf(url === undefined)('one call at a time', () => {
  const { store, pool, open, close } = ownStore(url, 1)
  beforeAll(open)
  afterAll(close)

  it('the function for one bucket returns and writes what the kernel does, like that for all', async () => {
    const reference = new Reference()
    const random = seeded(5)
    let compared = 0
    for (const { now, groups } of traces(20_261_122, CALLS, { algorithms: ['tb'] })) {
      for (const group of groups) {
        const calls = group.calls.slice(0, 1)
        const [verdict] = await verbs.decide(store, [{ calls }], { now })
        expect(verdict).toMatchObject(reference.decide({ calls }, now))
        compared += 1
        if (random() > 0.05) continue
        const ids = calls.map(({ id }) => id)
        const duration = random() < 0.5 ? null : 1 + Math.floor(random() * 1_000_000)
        await verbs.block(store, ids, duration, { now })
        for (const id of ids) reference.block(id, duration === null ? 0 : now + duration)
      }
    }
    expect(compared).toBeGreaterThan(CALLS / 4)
    for (const { id, numbers } of reference.states.values()) expect(await readRow(pg(pool), id)).toEqual(numbers)
  }, 60_000)
})
