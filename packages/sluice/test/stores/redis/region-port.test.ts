import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { tokenBucketKernel } from '../../../src/algorithms/token-bucket.ts'
import { tokenBucket } from '../../../src/index.ts'
import { bareRedisStore, ioredis } from '../../../src/stores/redis/index.ts'
import type { RegionPort, RegionWrite } from '../../../src/stores/region-port.ts'
import type { StateId } from '../../../src/stores/store.ts'

const { redis: url } = inject('engines')
const prefix = `port-${process.pid}:`
const NOW = 1_763_692_800_000_000
const limit = tokenBucket({ rate: '7/min', burst: 7 })
const [n, m, burst] = tokenBucketKernel.codec.encodePlan(limit.plan) as [number, number, number]
const bucket = [NOW, 0, NOW, 0, n, m, burst]
const idOf = (key: string, scope: string = 'port:tb:'): StateId => ({ scope: { text: scope }, key })

describe.skipIf(url === undefined)('what a Redis server has of regions', () => {
  const redis = new Redis(url ?? '', { lazyConnect: true })
  const port = bareRedisStore({ client: ioredis(redis), prefix }).capabilities.regions as RegionPort
  const keys = async (name: string): Promise<string[]> => (await redis.keys(`${prefix}${name}`)).sort()
  beforeAll(() => redis.connect())
  afterEach(async () => {
    const all = await keys('*')
    if (all.length > 0) await redis.del(all)
  })
  afterAll(async () => {
    await redis.quit()
  })
  const write = async (id: StateId, more: RegionWrite): Promise<unknown> =>
    port.write(id, await port.read(id, NOW), { maxCells: 1_000, bucket, ...more }, NOW)
  const begin = async (): Promise<void> =>
    expect(await port.write(undefined, await port.read(undefined, NOW), { record: { text: 'ü' } }, NOW)).toBe(1)

  it('is written and read as it was, and removed', async () => {
    await begin()
    expect(await write(idOf('a'), { rows: 'of a' })).toBe(2)
    const found = await port.read(idOf('a'), NOW)
    expect(found).toMatchObject({ record: { text: 'ü' }, begins: `${found.run} 1 `, cell: { bucket, change: 2, rows: 'of a' } })
    expect(await write(idOf('a'), { rows: null })).toBe(3)
    expect((await port.read(idOf('a'), NOW)).cell).toMatchObject({ change: 0, rows: undefined })
    expect(await port.changedSince(0, 10, NOW)).toMatchObject({ cells: 0, cursor: 3, all: true, rows: [] })
    expect(await keys('region*')).toEqual(['region', 'region:changes', 'region:record'].map((name) => prefix + name))
  })

  it('has the name of a cell once in its rows, and reads scope and key from it', async () => {
    await begin()
    const ids = [
      idOf('a'),
      idOf('a:b%{c} ü \0'),
      idOf(':tb:x'),
      idOf('x', 'tb:tb:'),
      idOf('x', 'x'),
      idOf('l'.repeat(512)),
      idOf('ü'.repeat(400)),
    ]
    for (const [index, id] of ids.entries()) await write(id, { rows: `${index}` })
    const { rows } = await port.changedSince(0, 100, NOW)
    expect(rows).toEqual(ids.map((id, index) => expect.objectContaining({ id, rows: `${index}` })))
    for (const [index, id] of ids.entries()) expect((await port.read(id, NOW)).cell.rows).toBe(`${index}`)
    expect(await redis.hget(`${prefix}region:rows`, 'port:tb:a')).toBe('2 8 0')
  })

  it('is read in pages, each cell at its last change, and has no list without a cell', async () => {
    await begin()
    const order: string[] = []
    let state = 7
    for (let turn = 0; turn < 400; turn += 1) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      const key = `k${(state >> 8) % 90}`
      if (order.includes(key)) order.splice(order.indexOf(key), 1)
      const isGone = turn % 9 === 8
      await write(idOf(key), { rows: isGone ? null : `${turn}` })
      if (!isGone) order.push(key)
    }
    const read: string[] = []
    let cursor = 0
    for (let all = false; !all;) {
      const page = await port.changedSince(cursor, 7, NOW)
      read.push(...page.rows.map(({ id }) => id.key))
      expect([page.rows.length <= 7, page.cells]).toEqual([true, order.length])
      ;({ cursor, all } = page)
    }
    expect(read).toEqual(order)
    expect(cursor).toBe(401)
    expect((await port.changedSince(401, 7, NOW)).rows).toEqual([])
    const lists = await keys('region:cells:*')
    expect(lists.length).toBeLessThan(7)
    expect((await redis.zrange(`${prefix}region:cells`, '0', '-1')).map((list) => `${prefix}region:cells:${list}`).sort()).toEqual(lists)
    const members = await Promise.all(lists.map((list) => redis.zcard(list)))
    expect(members.reduce((sum, count) => sum + count, 0)).toBe(order.length)
    for (const key of order) await write(idOf(key), { rows: null })
    expect(await keys('region:cells*')).toEqual([])
  })

  it('has room for so many cells', async () => {
    await begin()
    await write(idOf('a'), { rows: 'of a' })
    expect(await write(idOf('b'), { rows: 'of b', maxCells: 1 })).toBe(0)
    expect(await write(idOf('a'), { rows: 'again', maxCells: 1 })).toBe(3)
    expect(await write(idOf('b'), { rows: 'of b', maxCells: 2 })).toBe(4)
  })

  it('takes at most 250 bytes a cell that sent to two peers and received from them', async () => {
    await begin()
    const rows = '12345678 M FO B/CcQ/Bk us>Pn,F9eD_<Pn,F9eD_ ap>Pn,F9eD_<Pn,F9eD_'
    const count = 1_000
    for (let from = 0; from < count; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => write(idOf(`user:${String(from + index).padStart(19, '0')}`), { rows })))
    const names = [`${prefix}region:rows`, ...(await keys('region:cells*'))]
    const sizes = await Promise.all(names.map((name) => redis.memory('USAGE', name, 'SAMPLES', 0)))
    expect(sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0) / count).toBeLessThan(250)
  })
})
