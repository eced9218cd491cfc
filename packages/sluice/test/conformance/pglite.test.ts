import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AlgorithmTag } from '../../src/algorithms/algorithm.ts'
import { pglite, type PostgresStore, barePostgresStore } from '../../src/stores/postgres/index.ts'
import { Reference, traces } from '../../src/testing.ts'
import { readRow } from './postgres-rows.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

const CALLS = 100

/** A glance at an engine whose calls cost a hundred times those of a server: the whole suite is in `pglite.stores.test.ts`. */
describe('PGlite', () => {
  let database: PGlite
  let store: PostgresStore
  beforeAll(async () => {
    database = await PGlite.create()
    store = barePostgresStore({ client: pglite(database), sweepEveryMs: 0 })
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    await database.close()
  })

  it.each<AlgorithmTag>(['tb', 'fw', 'sc', 'sl'])('decides %s as the kernel does, with the same states', async (tag) => {
    const reference = new Reference()
    const outcomes = new Set<string>()
    let latest = 0
    for (const { now, groups } of traces(20_261_121, CALLS, { algorithms: [tag] })) {
      latest = Math.max(latest, now)
      const verdicts = await verbs.decide(store, groups, { now })
      expect(verdicts).toMatchObject(groups.map((group) => reference.decide(group, now)))
      for (const { outcome } of verdicts) outcomes.add(outcome)
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['allowed', 'denied']))
    for (const { id, numbers, expires } of reference.states.values()) {
      const stored = await readRow(pglite(database), id)
      if (stored !== undefined || expires > latest) expect(stored).toEqual(numbers)
    }
  })
})
