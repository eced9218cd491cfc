import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { installedFunctions } from '../../../src/stores/postgres/functions.ts'
import { migrate } from '../../../src/stores/postgres/migrate.ts'
import { functions } from '../../../src/stores/postgres/programs.gen.ts'
import { pg } from '../../../src/stores/postgres/index.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import { nextFunctions } from './next-version.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const limit = tokenBucket({ rate: '1/day', burst: 7 })

describe.skipIf(url === undefined)('migrate({ prune: true })', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  beforeAll(open)
  afterAll(close)
  const there = async (): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string }>(
      `select proname as name from pg_proc where pronamespace = current_schema::regnamespace and proname like 'sluice%' order by 1`,
    )
    return rows.map(({ name }) => name)
  }
  const ours = [...installedFunctions('sluice').map(({ name }) => name), 'sluice_check'].sort()
  const age = (days: number) => pool.query(`update sluice_functions set installed_at = now() - make_interval(days => $1)`, [days])

  it('drops nothing where there is nothing else', async () => {
    await store.migrate({ prune: true })
    expect(await there()).toEqual(ours)
  })

  it('is refused while functions of another version are younger than seven days, and drops them later', async () => {
    await migrate(pg(pool), { table: 'sluice', functions: nextFunctions(functions) })
    const both = await there()
    expect(both.length).toBeGreaterThan(ours.length)
    await age(6)
    await expect(store.migrate({ prune: true })).rejects.toMatchObject({
      name: 'StoreFailure',
      kind: 'setup',
      executed: 'no',
      message: expect.stringMatching(
        /SL003 functions of another version were installed in the last seven days, among them sluice_\w+ .*force/,
      ),
    })
    expect(await there()).toEqual(both)
    await age(8)
    await store.migrate({ prune: true })
    expect(await there()).toEqual(ours)
    const { rows } = await pool.query('select count(*)::int as many from sluice_functions')
    expect(rows).toEqual([{ many: ours.length }])
    const [verdict] = await verbs.decide(store, [
      { calls: [{ id: { scope: { text: 'p:' }, key: 'k' }, limit, cost: 1_000_000, phase: 0 }] },
    ])
    expect(verdict?.outcome).toBe('allowed')
  })

  it('drops young ones too with force, and leaves functions of others alone', async () => {
    await pool.query(`create function sluice_mine_12345678() returns int language sql as 'select 1'`)
    await migrate(pg(pool), { table: 'sluice', functions: nextFunctions(functions) })
    await store.migrate({ prune: true, force: true })
    expect(await there()).toEqual([...ours, 'sluice_mine_12345678'].sort())
  })
})
