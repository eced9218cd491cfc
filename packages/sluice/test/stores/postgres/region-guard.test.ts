import pgDriver from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { tokenBucketKernel } from '../../../src/algorithms/token-bucket.ts'
import { tokenBucket } from '../../../src/index.ts'
import { batchOf } from '../../../src/stores/batch/batch.ts'
import type { ShareCall } from '../../../src/stores/by-shares.ts'
import { digestOf, isLog, requestOf } from '../../../src/stores/postgres/encode.ts'
import { functionNames } from '../../../src/stores/postgres/functions.ts'
import { guarded } from '../../../src/stores/postgres/region-guard.ts'
import { statementsOf } from '../../../src/stores/postgres/statements.ts'
import type { KnownShares, RegionPort } from '../../../src/stores/region-port.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')
const NOW = 1_763_692_800_000_000
const [limit, other] = [tokenBucket({ rate: '7/min', burst: 7 }), tokenBucket({ rate: '9/min', burst: 7 })]
const idOf = (key: string) => ({ scope: { text: 'guard:tb:' }, key })
const SHARES = {} as KnownShares

/** What a process takes for true. */
interface Known {
  readonly begins: string
  readonly shiftedAt: number
  readonly settled: number
  readonly share: typeof limit
  /** By key; 0 for others. */
  readonly changes: Readonly<Record<string, number>>
}

describe.skipIf(url === undefined)('the functions for busy keys, by shares of a region', () => {
  const { store, pool, open, close } = ownStore(url, 2)
  const port = store.capabilities.regions as RegionPort
  const names = functionNames('sluice')
  const statements = statementsOf('sluice', names)
  let right: Known
  beforeAll(open)
  afterAll(close)
  beforeEach(async () => {
    await pool.query(
      'delete from sluice_state; delete from sluice_cell; update sluice_region set cells = 0, written = txid_current() % 4294967296',
    )
    await port.write(undefined, await port.read(undefined, NOW), { record: {} }, NOW)
    const bucket = [NOW - 60_000_000, 0, NOW, 0, ...tokenBucketKernel.codec.encodePlan(limit.plan)]
    const write = async (key: string, rows: object): Promise<number> =>
      (await port.write(idOf(key), await port.read(idOf(key), NOW), { bucket, maxCells: 9, ...rows }, NOW)) as number
    for (const key of ['a', 'b', 'c']) await write(key, {})
    const changes = { d: await write('d', { rows: 'of d' }), e: await write('e', { rows: 'of e' }) }
    const { begins } = await port.read(undefined, NOW)
    right = { begins, shiftedAt: NOW, settled: 0, share: limit, changes }
  })

  /** The reply, and that of the guard for all calls. */
  const decide = async (keys: readonly string[], { begins, shiftedAt, settled, share, changes }: Known, by = pool) => {
    const groups = keys.map((key) => {
      const known = { limit: share, holds: true, change: changes[key] ?? 0, settled }
      const call: ShareCall = { id: idOf(key), limit: share, cost: 1_000_000, phase: 0, cell: idOf(key), shares: SHARES, known }
      return { calls: [call] }
    })
    const request = requestOf(groups, batchOf(groups, isLog), String(NOW), true)
    const used = { view: { run: '', begins, shiftedAt }, others: [] }
    const { statement, values } = guarded(request, used, String(NOW), true)
    const all = guarded({ ...request, program: 'consume' }, used, String(NOW), true)
    const guard = all.values('1').slice(0, 11)
    const places = guard.map((_, index) => `$${index + 1}`).join()
    const { rows: stale } = await pool.query(`select ${names.get('guard')}(${places}) as reply`, guard)
    const { rows } = await by.query(statements[statement].text, [...values('1')])
    return { statement, reply: rows[0].reply as string, guard: stale[0].reply as string | null }
  }
  const nameOf = async (): Promise<string> => (await pool.query('select current_schema() as name')).rows[0].name
  const states = async (): Promise<unknown> => (await pool.query('select * from sluice_state order by id')).rows

  it.each<[string, readonly string[], string]>([
    ['one', ['a'], 'shared_bucket'],
    ['one with rows', ['d'], 'shared_bucket'],
    ['many', ['a', 'b', 'c'], 'shared_buckets'],
    ['many with rows', ['a', 'd', 'e'], 'shared_buckets'],
    ['one without a state', ['new'], 'shared_bucket'],
    ['many without some states', ['a', 'new', 'e'], 'shared_buckets'],
  ])('decide where all is as the process knows it: %s', async (_, keys, statement) => {
    expect(await decide(keys, right)).toEqual({ statement, guard: null, reply: expect.stringMatching(/^\{\d+(,0)+,/) })
    expect((await pool.query('select from sluice_state where seen = $1 and zero > $2', [NOW, NOW - 60_000_000])).rowCount).toBe(keys.length)
  })

  const WRONG: [string, (known: Known) => Partial<Known>, 'record' | 'cells'][] = [
    ['the run', ({ begins }) => ({ begins: `00000000-0000-0000-0000-000000000000 ${begins.split(' ')[1]} ` }), 'record'],
    ['the record', ({ begins }) => ({ begins: `${begins.split(' ')[0]} 999 ` }), 'record'],
    ['the latest shift', () => ({ shiftedAt: NOW + 1 }), 'cells'],
    ['the share', () => ({ share: other }), 'cells'],
    ['the rows', ({ changes }) => ({ changes: { a: 1, d: (changes['d'] as number) + 1 } }), 'cells'],
    ['when absent states are settled', () => ({ settled: NOW + 1 }), 'cells'],
  ]
  it.each(WRONG)('charge nothing where the process is wrong about %s, as the guard says', async (_, wrong, whose) => {
    let noticed = 0
    for (const keys of [['a'], ['d'], ['a', 'b'], ['a', 'd', 'e'], ['new'], ['a', 'new']]) {
      const before = await states()
      const { reply, guard } = await decide(keys, { ...right, ...wrong(right) })
      if (guard === null) expect(reply).toMatch(/^\{/)
      else {
        noticed += 1
        expect(guard).toMatch(whose === 'record' ? /^stale 0$/ : /^stale [1-9]/)
        expect([reply, await states()]).toEqual([guard, before])
      }
    }
    expect(noticed).toBeGreaterThan(0)
  })

  it('leave what keeps a state after its limit was another, and report it', async () => {
    await pool.query('update sluice_state set keep_for = 1000000000')
    for (const keys of [['a'], ['b', 'c', 'd']]) {
      expect((await decide(keys, right)).reply.match(/,1000000000\b/g)).toHaveLength(keys.length)
      expect((await pool.query('select distinct keep_for::int as kept from sluice_state')).rows).toEqual([{ kept: 1_000_000_000 }])
    }
  })

  it('are not compiled for each call: no plan scans a table', async () => {
    const compiled = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${await nameOf()} -c jit=on` })
    const plain = new pgDriver.Pool({ connectionString: url, max: 1, options: `-c search_path=${await nameOf()} -c jit=off` })
    onTestFinished(async () => void (await Promise.all([compiled.end(), plain.end()])))
    for (const keys of [
      ['b', 'c'],
      ['d', 'e'],
      ['b', 'new 1', 'new 2'],
    ]) {
      const times = new Map([compiled, plain].map((by) => [by, [] as number[]]))
      for (let round = 0; round < 7; round += 1) {
        for (const [by, took] of times) {
          await pool.query('delete from sluice_state where id = any($1)', [['new 1', 'new 2'].map((key) => digestOf(idOf(key)))])
          const began = performance.now()
          await decide(keys, right, by)
          took.push(performance.now() - began)
        }
      }
      const least = [...times.values()].map((took) => Math.min(...took)) as [number, number]
      // A compilation takes a hundred times as long as the call.
      expect(least[0]).toBeLessThan(8 * least[1] + 20)
    }
  })

  it('notice rows where the process knows of none', async () => {
    for (const keys of [['d'], ['a', 'd', 'e']]) {
      const before = await states()
      expect((await decide(keys, { ...right, changes: {} })).reply).toMatch(/^stale [1-9]/)
      expect(await states()).toEqual(before)
    }
  })
})
