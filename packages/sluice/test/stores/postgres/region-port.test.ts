import type { PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucket } from '../../../src/index.ts'
import { tokenBucketKernel } from '../../../src/algorithms/token-bucket.ts'
import { digestOf } from '../../../src/stores/postgres/encode.ts'
import { functionNames } from '../../../src/stores/postgres/functions.ts'
import { barePostgresStore, pg } from '../../../src/stores/postgres/index.ts'
import type { FoundRegion, RegionPort, RegionWrite } from '../../../src/stores/region-port.ts'
import type { StateId } from '../../../src/stores/store.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

const { postgres: url } = inject('engines')
const limit = tokenBucket({ rate: '7/min', burst: 7 })
const NOW = 1_763_692_800_000_000
const [n, m, burst] = tokenBucketKernel.codec.encodePlan(limit.plan) as [number, number, number]
const bucketAt = (zero: number): number[] => [zero, 0, NOW, 0, n, m, burst]
const idOf = (key: string): StateId => ({ scope: { text: 'port:tb:' }, key })

describe.skipIf(url === undefined)('what a PostgreSQL database has of regions', () => {
  const { store, pool, open, close } = ownStore(url, 8)
  const port = store.capabilities.regions as RegionPort
  beforeAll(async () => {
    await open()
    expect(await port.write(undefined, await port.read(undefined, NOW), { record: { text: "it's" } }, NOW)).toBe(1)
  })
  afterAll(close)

  const read = (key: string): Promise<FoundRegion> => port.read(idOf(key), NOW)
  const write = async (key: string, more: RegionWrite, changed: (found: FoundRegion) => FoundRegion = (found) => found) =>
    port.write(idOf(key), changed(await read(key)), { maxCells: 100, ...more }, NOW)

  it('is written and read as it was: record, state, rows, the end of a block', async () => {
    expect(await read('a')).toEqual({
      run: expect.stringMatching(/^[\w-]{36}$/),
      now: NOW,
      begins: expect.stringMatching(/^[\w-]{36} 1 $/),
      record: { text: "it's" },
      cell: { bucket: undefined, digest: '', ends: 0, change: 0, rows: undefined },
    })
    const change = await write('a', { bucket: bucketAt(NOW - 5), rows: 'to ü, 3 units' })
    const { cell } = await read('a')
    expect(cell).toEqual({
      bucket: bucketAt(NOW - 5),
      digest: expect.stringMatching(/^\d+$/),
      ends: 0,
      change,
      rows: 'to ü, 3 units',
    })
    await verbs.block(store, [idOf('a')], 60_000_000, { now: NOW })
    expect((await read('a')).cell).toMatchObject({ bucket: bucketAt(NOW - 5), ends: NOW + 60_000_000 })
    await write('a', { bucket: null, rows: null })
    expect((await read('a')).cell).toMatchObject({ bucket: undefined, ends: NOW + 60_000_000, change: 0, rows: undefined })
    expect((await pool.query('select cells::int from sluice_region')).rows).toEqual([{ cells: 0 }])
  })

  it('is decided by the functions: a state that was written is charged, and read as it was charged', async () => {
    await write('b', { bucket: bucketAt(NOW - 70_000_000) })
    const call = { id: idOf('b'), limit, cost: 2_000_000, phase: 0 }
    expect(await verbs.decide(store, [{ calls: [call] }], { now: NOW })).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 5 }] }])
    expect(tokenBucketKernel.codec.decodeState((await read('b')).cell.bucket as number[])).toMatchObject({
      plan: { n, m, burst },
      seen: NOW,
    })
  })

  it.each<[string, (found: FoundRegion) => FoundRegion]>([
    ['the run', (found) => ({ ...found, run: 'another' })],
    ['the record', (found) => ({ ...found, begins: `${found.run} 2 ` })],
    ['the state', ({ cell, ...found }) => ({ ...found, cell: { ...cell, digest: '' } })],
    ['the state', ({ cell, ...found }) => ({ ...found, cell: { ...cell, digest: '1' } })],
    ['the rows', ({ cell, ...found }) => ({ ...found, cell: { ...cell, change: 0 } })],
  ])('is left where %s is another than was read, and returned', async (_, changed) => {
    const key = `left ${changed.toString()}`
    await write(key, { bucket: bucketAt(NOW - 9), rows: 'one unit' })
    const before = await read(key)
    expect(await write(key, { bucket: bucketAt(NOW), rows: 'two units' }, changed)).toEqual(before)
    expect(await write(key, { bucket: null, rows: null }, changed)).toEqual(before)
    expect(await write(key, { bucket: bucketAt(NOW) }, changed)).toEqual(before)
    expect(await read(key)).toEqual(before)
  })

  it('is changed once, where eight write at once what was read once; and numbers are as many as changes', async () => {
    for (const more of [{ bucket: bucketAt(NOW - 1) }, { bucket: bucketAt(NOW - 2), rows: 'one unit' }, { bucket: null, rows: null }]) {
      const found = await read('race')
      const answers = await Promise.all(Array.from({ length: 8 }, () => port.write(idOf('race'), found, { maxCells: 100, ...more }, NOW)))
      expect(answers.filter((answer) => typeof answer === 'number')).toHaveLength(1)
    }
    const found = await port.read(undefined, NOW)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => port.write(undefined, found, { record: { index } }, NOW)))
    expect(answers.filter((answer) => typeof answer === 'number')).toHaveLength(1)
    const before = (await port.changedSince(0, 100, NOW)).cursor
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, index) => write(`many ${index}`, { bucket: bucketAt(NOW), rows: `${index}` })),
    )
    expect(many.map(Number).sort((one, other) => one - other)).toEqual(many.map((_, index) => before + 1 + index))
  })

  /** Takes locks in an open transaction, starts the write, and ends the transaction once the write waits for these locks. */
  const waitingFor = async (hold: (client: PoolClient) => Promise<unknown>, pending: () => Promise<unknown>): Promise<unknown> => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await hold(client)
      const { rows } = await client.query('select pg_backend_pid() as pid')
      const answer = pending()
      const waits = `select from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))`
      await expect.poll(async () => (await pool.query(waits, [rows[0].pid])).rowCount).toBeGreaterThan(0)
      await client.query('commit')
      return await answer
    } finally {
      client.release()
    }
  }

  it('is left where a call that is not over yet has charged the state', async () => {
    await write('open', { bucket: bucketAt(NOW - 70_000_000) })
    const found = await read('open')
    const call = { id: idOf('open'), limit, cost: 2_000_000, phase: 0 }
    const answer = await waitingFor(
      (client) => verbs.decide(barePostgresStore({ client: pg(client) }), [{ calls: [call] }], { now: NOW }),
      () => port.write(idOf('open'), found, { bucket: bucketAt(NOW - 60_000_000), rows: 'none', maxCells: 100 }, NOW),
    )
    expect(answer).toEqual(await read('open'))
    expect((await read('open')).cell.bucket).not.toEqual(found.cell.bucket)
  })

  const absent = digestOf(idOf('never called'))

  it('is not written while the guard has found no state, which a call may make', async () => {
    const record = (await read('never called')).begins.split(' ', 2)
    const guard = `select ${functionNames('sluice').get('guard')}($1, true, array[$2]::uuid[], $3, $4, 0, '{}', '{}', '{}', '{}', '{}') as stale`
    const answer = await waitingFor(
      async (client) => expect((await client.query(guard, [NOW, absent, ...record])).rows).toEqual([{ stale: null }]),
      () => write('never called', { bucket: bucketAt(NOW) }),
    )
    expect(answer).toBeGreaterThan(0)
  })

  it('is read in pages, each with what changed since', async () => {
    const { cursor: first } = await port.changedSince(0, 1_000, NOW)
    for (const key of ['p', 'q', 'r', 'p']) await write(key, { bucket: bucketAt(NOW - 1), rows: `of ${key}` })
    const one = await port.changedSince(first, 2, NOW)
    expect(one).toMatchObject({ all: false, rows: ['q', 'r'].map((key) => ({ id: idOf(key), rows: `of ${key}` })), cursor: first + 3 })
    const two = await port.changedSince(one.cursor, 2, NOW)
    expect(two).toMatchObject({ all: true, rows: [{ id: idOf('p'), rows: 'of p' }], cursor: first + 4 })
    await write('q', { bucket: null, rows: null })
    expect(await port.changedSince(two.cursor, 2, NOW)).toMatchObject({ all: true, rows: [], cursor: first + 5 })
  })

  it('has room for so many keys, of whatever process', async () => {
    const { rows } = await pool.query('select count(*)::int as many, (select cells::int from sluice_region) as cells from sluice_cell')
    expect(rows[0].cells).toBe(rows[0].many)
    expect(await write('room', { bucket: bucketAt(NOW), rows: 'none', maxCells: rows[0].many })).toBe(0)
    expect((await read('room')).cell).toMatchObject({ digest: '', change: 0 })
    expect(await write('p', { bucket: bucketAt(NOW), rows: 'none', maxCells: rows[0].many })).toBeGreaterThan(0)
    expect(await write('room', { bucket: bucketAt(NOW), rows: 'none', maxCells: rows[0].many + 1 })).toBeGreaterThan(0)
  })

  it('is void with another start of the server, or where the row was written by somebody else', async () => {
    const was = await read('p')
    for (const statement of [
      `update sluice_region set started = started - interval '1 microsecond', written = txid_current() % 4294967296`,
      `update sluice_region set changes = changes`,
    ]) {
      const { run } = await port.read(undefined, NOW)
      await pool.query(statement)
      const [one, other] = await Promise.all([read('p'), port.read(undefined, NOW)])
      expect(one).toMatchObject({ begins: '', record: undefined, cell: { change: 0, rows: undefined, bucket: was.cell.bucket } })
      expect([one.run === run, one.run === other.run]).toEqual([false, true])
      expect(await port.changedSince(0, 10, NOW)).toMatchObject({ run: one.run, record: undefined, cursor: 0, rows: [] })
      expect(await port.write(idOf('p'), was, { rows: 'none', maxCells: 9 }, NOW)).toEqual(one)
    }
  })

  it('is what each process needs, as it published it last: the others read it until it is old or removed', async () => {
    const share = (process: string, entry: object | undefined, keepFor = 60_000_000, most = 3) =>
      port.shareNeeds(process, entry, keepFor, most)
    expect(await share('p1', { keys: ['ü "'] })).toEqual([])
    expect(await share('p2', { keys: [2] })).toEqual([{ keys: ['ü "'] }])
    expect(await share('p1', { keys: [1] })).toEqual([{ keys: [2] }])
    expect(await share('p1', { keys: [1] })).toEqual([{ keys: [2] }])
    expect(await share('p2', { keys: [2] })).toEqual([{ keys: [1] }])
    // A process too many reads, and publishes nothing.
    expect(await share('p3', { keys: [3] }, 60_000_000, 2)).toHaveLength(2)
    expect(await share('p1', { keys: [1] }, 60_000_000, 1)).toEqual([{ keys: [2] }])
    expect(await share('p2', undefined)).toEqual([{ keys: [1] }])
    expect(await share('p1', { keys: [1] })).toEqual([])
    await pool.query(`update sluice_need set at = at - 2000000 where process = 'p1'`)
    expect(await share('p2', { keys: [2] }, 1_000_000)).toEqual([])
    expect((await pool.query('select process from sluice_need')).rows).toEqual([{ process: 'p2' }])
  })

  it('is published by many processes at once, also while one of them is removed as too old', async () => {
    for (let round = 0; round < 5; round += 1) {
      await pool.query('update sluice_need set at = at - 120000000')
      const processes = Array.from({ length: 16 }, (_, index) => `q${index}`)
      await Promise.all(processes.map((process) => port.shareNeeds(process, { process, round }, 60_000_000, 64)))
      const seen = await port.shareNeeds('q0', { process: 'q0', round }, 60_000_000, 64)
      expect(seen.map((entry) => (entry as { round: number }).round)).toEqual(Array.from({ length: 15 }, () => round))
    }
  })

  it('is refused for a state of another kind', async () => {
    await write('kind', { bucket: bucketAt(NOW) })
    await pool.query('update sluice_state set kind = 9')
    await expect(read('kind')).rejects.toMatchObject({ kind: 'setup', message: expect.stringMatching(/kind 9.*update this one/) })
  })
})
