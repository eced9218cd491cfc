import pgDriver from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { pg, postgresStore } from '../../../src/stores/postgres/index.ts'
import { audit, type TraceEntry } from '../../../src/testing/index.ts'
import { schema } from '../../conformance/postgres-rows.ts'
import { firstTables, firstVersion } from './first-version.ts'

const { postgres: url } = inject('engines')
const TEN = { rate: '10/s', burst: 10 }
const START = 1_763_692_800_000_000

describe.skipIf(url === undefined)('two versions at once', () => {
  const own = schema(url)
  const pool = new pgDriver.Pool({ connectionString: url, max: 8, options: `-c search_path=${own.name}` })
  const store = postgresStore({ client: pg(pool), sweepEveryMs: 0 })
  const old = firstVersion(pool, TEN)
  const limit = tokenBucket(TEN)
  const id = (key: string) => ({ scope: { text: 'v:' }, key })
  const ask = async (key: string, now: number) => {
    const [verdict] = await store.consume([{ calls: [{ id: id(key), limit, cost: 1_000_000, phase: 0 }] }], { now })
    return verdict?.calls[0]
  }
  beforeAll(() => own.create())
  afterAll(async () => {
    await pool.end()
    await own.drop()
  })

  it('a migration under load keeps what was charged: together they admit no more than the limit', async () => {
    await firstTables(pool)
    const quick = { rate: '50/s', burst: 20 }
    const [before, after] = [firstVersion(pool, quick), tokenBucket(quick)]
    const seen: TraceEntry[] = []
    const state = { running: true, migrated: false }
    const first = async (): Promise<void> => {
      while (state.running) {
        const { at, outcome } = await before.consume('v:load')
        seen.push({ at, cost: 1, allowed: outcome === 0 })
      }
    }
    const second = async (): Promise<void> => {
      while (state.running) {
        const [verdict] = await store.consume([{ calls: [{ id: id('load'), limit: after, cost: 1_000_000, phase: 0 }] }])
        seen.push({ at: verdict?.at ?? Number.NaN, cost: 1, allowed: verdict?.allowed ?? false })
      }
    }
    const callers = [first(), first(), first()]
    while (seen.length < 60) await new Promise((resolve) => setImmediate(resolve))
    await store.migrate()
    const migrated = seen.length
    callers.push(second(), second())
    while (seen.length < migrated + 200) await new Promise((resolve) => setImmediate(resolve))
    state.running = false
    await Promise.all(callers)
    expect(audit(seen, after).overGrant).toBe(0)
    const { rows } = await pool.query('select count(*)::int as many from sluice_tb')
    expect(rows).toEqual([{ many: 0 }])
  })

  it('each sees what the other charged, and says the same of it', async () => {
    const left = []
    for (let turn = 0; turn < 4; turn += 1) {
      left.push((await old.consume('v:both', START)).remaining, (await ask('both', START))?.remaining)
    }
    expect(left).toEqual([9, 8, 7, 6, 5, 4, 3, 2])
    expect(await old.peek('v:both', START)).toMatchObject({ outcome: 0, remaining: 1 })
    expect([await ask('both', START), await ask('both', START)]).toMatchObject([
      { outcome: 'allowed' },
      { outcome: 'allowed', remaining: 0 },
    ])
    const denied = await old.consume('v:both', START)
    expect(denied).toMatchObject({ outcome: 1, retryAfter: 100_000 })
    expect(await ask('both', START)).toMatchObject({ outcome: 'denied', retryAfter: 100_000 })
    expect(await old.consume('v:both', START + 100_000)).toMatchObject({ outcome: 0, remaining: 0 })
  })

  it('a changed limit is converted by either', async () => {
    const wide = firstVersion(pool, { rate: '1/s', burst: 30 })
    expect(await wide.consume('v:changed', START)).toMatchObject({ remaining: 29 })
    expect(await ask('changed', START)).toMatchObject({ outcome: 'allowed', remaining: 9 })
    expect(await wide.consume('v:changed', START)).toMatchObject({ remaining: 8 })
  })

  it('a block holds for both', async () => {
    await store.block([id('blocked')], 5_000_000, { now: START })
    expect(await old.consume('v:blocked', START)).toMatchObject({ outcome: 1 })
    expect(await ask('blocked', START)).toMatchObject({ outcome: 'denied', blocked: true })
    expect(await old.consume('v:blocked', START + 5_000_000)).toMatchObject({ outcome: 0, remaining: 9 })
  })
})
