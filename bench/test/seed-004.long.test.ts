import pg from 'pg'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { compareWays } from '../src/postgres/lanes.ts'
import { auditClients } from '../src/postgres/grant.ts'
import { runSessions } from '../src/postgres/sessions.ts'

const { postgres } = inject('engines')
const url = postgres ?? ''

describe.skipIf(postgres === undefined)('seed-004', () => {
  afterAll(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<{ name: string }>(
      String.raw`select nspname as name from pg_namespace where nspname ~ '_${process.pid}_\d+_(one|many)$|^(sessions|grant)_'`,
    )
    for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
    await client.end()
  })

  it('every way lets pass what it may, side by side', async () => {
    const lanes = await compareWays({
      url,
      seconds: 0.1,
      batchMs: 5,
      warmUpMs: 20,
      quota: { tokens: 1_000_000, per: '1s', burst: 10_000_000 },
      callers: 4,
      keys: 'many',
      ways: ['article', 'update', 'bare', 'coalescing', 'sluice', 'flexible'],
    })
    // Ours has its default deadline: on a busy machine some calls are late, and nobody is denied.
    for (const { name, total, allowed, errors } of lanes) expect([name, allowed + errors]).toEqual([name, total])
    for (const { name, errors } of lanes) if (!name.startsWith('Sluice')) expect([name, errors]).toEqual([name, 0])
    const [article, , , coalescing] = lanes
    expect(article?.storeCalls).toBe(1)
    expect(coalescing?.storeCalls).toBeLessThan(1)
  })

  it('the article’s function fails with 40001 under SERIALIZABLE, and with 23505 on its first calls at most under READ COMMITTED; Sluice denies nobody', async () => {
    const run = (way: 'article' | 'bare' | 'sluice', isolation: 'read committed' | 'serializable') =>
      runSessions({ url, seconds: 1, way, isolation })
    const first = Object.keys((await run('article', 'read committed')).failures)
    // Only its first calls, where several sessions insert the row.
    expect(first.filter((code) => code !== '23505')).toEqual([])
    expect((await run('article', 'serializable')).failures['40001']).toBeGreaterThan(0)
    // Late by the default deadline, in the call or in its wait for the row, as any call may be on a busy machine; nothing else.
    const late = ['undecided, timeout', 'undecided, contention']
    for (const way of ['bare', 'sluice'] as const)
      for (const isolation of ['read committed', 'serializable'] as const) {
        const failed = Object.keys((await run(way, isolation)).failures)
        expect([way, isolation, failed.filter((what) => !late.includes(what))]).toEqual([way, isolation, []])
      }
  })

  it.each(['bare', 'sluice'] as const)('64 clients and groups in random order: nothing too many, no deadlock (%s)', async (ring) => {
    const { audit, total, deadlocks } = await auditClients({ url, seconds: 1, ring })
    expect(total).toBeGreaterThan(64)
    expect([audit.overGrant, deadlocks]).toEqual([0, 0])
  })
})
