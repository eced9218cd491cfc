import pg from 'pg'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { setTimeout as later } from 'node:timers/promises'
import { auditOf, auditWay } from '../src/postgres/audit-way.ts'
import { runExample } from '../src/postgres/example.ts'
import { auditClients } from '../src/postgres/grant.ts'
import { compareWays } from '../src/postgres/lanes.ts'
import { runSessions } from '../src/postgres/sessions.ts'
import type { Way } from '../src/postgres/way.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder, MAIN } from './run-bench.ts'

const { postgres } = inject('engines')
const url = postgres ?? ''

describe.skipIf(postgres === undefined)('seed-004', () => {
  afterAll(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<{ name: string }>(`select nspname as name from pg_namespace where nspname ~ '^grant_'`)
    for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
    await client.end()
  })

  it('every way lets pass what it may, side by side', async () => {
    const {
      timed: lanes,
      weights,
      samples,
    } = await compareWays({
      url,
      seconds: 0.1,
      batchMs: 5,
      warmUpMs: 20,
      quota: { tokens: 1_000_000, per: '1s', burst: 10_000_000 },
      callers: 4,
      keys: 1_000,
      ways: ['article', 'update', 'bare', 'coalescing', 'sluice', 'flexible'],
    })
    for (const { table, index } of weights) expect(table + index).toBeGreaterThan(0)
    expect([weights.length, samples.length]).toEqual([6, 6])
    // The rows of the second and the third way of ours are copies of those of the first.
    const [made, ...copied] = weights.slice(2, 5).map(({ table, index }) => table + index)
    for (const bytes of copied) expect(bytes / (made as number)).toBeCloseTo(1, 1)
    // Ours has its default deadline: on a busy machine some calls are late, and nobody is denied.
    for (const { name, total, allowed, errors } of lanes) expect([name, allowed + errors]).toEqual([name, total])
    for (const { name, errors } of lanes) if (!name.startsWith('Sluice')) expect([name, errors]).toEqual([name, 0])
    const [article, , , coalescing] = lanes
    expect(article?.storeCalls).toBe(1)
    expect(coalescing?.storeCalls).toBeLessThan(1)
  })

  it('three limits a request: every way decides as expected, or not at all', async () => {
    const { timed } = await compareWays({
      url,
      seconds: 0.1,
      batchMs: 5,
      warmUpMs: 20,
      quota: { tokens: 1_000_000, per: '1s', burst: 10_000_000 },
      callers: 4,
      keys: 'mixed',
      ways: ['update', 'article', 'flexible', 'bare', 'sluice'],
    })
    for (const { name, total, allowed, errors } of timed) expect([name, allowed + errors]).toEqual([name, total])
  })

  it('the article’s function fails with 40001 under SERIALIZABLE, and with 23505 on its first calls at most under READ COMMITTED; Sluice denies nobody', async () => {
    const run = (way: 'article' | 'compat' | 'bare' | 'sluice', isolation: 'read committed' | 'serializable') =>
      runSessions({ url, seconds: 1, way, isolation })
    const first = Object.keys((await run('article', 'read committed')).failures)
    // Only its first calls, where several sessions insert the row.
    expect(first.filter((code) => code !== '23505')).toEqual([])
    const { total, failures, perSecond } = await run('article', 'serializable')
    expect(failures['40001']).toBeGreaterThan(0)
    // Of one second: the failed ones are no decisions.
    const notDecided = Object.values(failures).reduce((sum, times) => sum + times, 0)
    expect(perSecond.low).toBeLessThanOrEqual(total - notDecided)
    // Late by the default deadline, in the call or in its wait for the row, as any call may be on a busy machine; nothing else.
    const late = ['undecided, timeout', 'undecided, contention']
    for (const way of ['bare', 'sluice'] as const)
      for (const isolation of ['read committed', 'serializable'] as const) {
        const failed = Object.keys((await run(way, isolation)).failures)
        expect([way, isolation, failed.filter((what) => !late.includes(what))]).toEqual([way, isolation, []])
      }
  })

  it('the audit holds each way to its promise, under both isolation levels', async () => {
    for (const way of ['compat', 'update', 'bare', 'sluice', 'swap', 'flexible'] as const)
      for (const isolation of ['read committed', 'serializable'] as const) {
        const { flood, paced, overGrantPercent } = await auditWay({ url, seconds: 0.4, way, isolation })
        expect([way, isolation, overGrantPercent]).toEqual([way, isolation, 0])
        // On a busy machine a paced caller may be late, but it calls.
        for (const { total } of [flood, paced]) expect(total).toBeGreaterThan(0)
      }
  })

  it('the audit shows a way that allows everything as wrong', async () => {
    const wrong: Way = {
      name: 'wrong',
      kind: 'peer',
      instants: 'after',
      prepare: async () => {},
      open: async (pool) => {
        const admitted: { at: number; cost: number; allowed: boolean }[] = []
        return {
          admitted,
          invoke: async () => {
            const { rows } = await pool.query<{ at: string }>('select (extract(epoch from clock_timestamp()) * 1000000)::bigint as at')
            admitted.push({ at: Number(rows[0]?.at), cost: 1, allowed: true })
            return true
          },
          close: async () => {},
        }
      },
    }
    const { flood, overGrantPercent } = await auditOf(wrong, { url, way: 'update', isolation: 'read committed', seconds: 0.5 })
    expect(flood.allowed).toBe(flood.total)
    expect(overGrantPercent).toBeGreaterThan(0)
  })

  it('the example: ten at first, three refusals, then what the pause refilled', async () => {
    const ways = ['article', 'compat', 'sluice'] as const
    for (const [index, { before, after, overGrantPercent }] of (await Promise.all(ways.map((way) => runExample({ url, way })))).entries()) {
      expect(before[0]?.left).toBe(9)
      expect(before.filter(({ left }) => left < 0)).toHaveLength(3)
      expect(before.filter(({ left }) => left >= 0).length).toBeGreaterThanOrEqual(10)
      expect(after.at(-1)?.left).toBe(-1)
      expect(after.length).toBeGreaterThan(1)
      if (ways[index] !== 'article') expect(overGrantPercent).toBe(0)
    }
  })

  it('a server whose URL is given runs the same, is named, and keeps no schema', async () => {
    const results = folder()
    const { code, out } = await bench(['seed-004', '--only', 'yugabyte', '--seconds', '0.1', '--results', results], {
      SLUICE_YUGABYTE_URL: url,
    })
    expect(code).toBe(0)
    expect(out).toContain('The server is not a YugabyteDB: PostgreSQL')
    const { parts } = JSON.parse(readFileSync(join(results, 'seed-004.json'), 'utf8')) as SuiteResults
    expect(parts[0]?.servers).toContain('PostgreSQL')
    expect(parts[0]?.tables.map(({ name }) => name)).toEqual(['hot', 'sessions', 'over-grant', 'example'])
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(`select nspname from pg_namespace where nspname ~ '^sluice_bench_'`)
    await client.end()
    expect(rows).toEqual([])
  }, 240_000)

  it('a run that is interrupted keeps no schema either, and no process has the URL among its arguments', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const child = spawn(process.execPath, [MAIN, 'seed-004', '--only', 'yugabyte', '--results', folder()], {
      env: { ...process.env, SLUICE_YUGABYTE_URL: url },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    const schemas = async (): Promise<unknown[]> => {
      const text = `select nspname from pg_namespace where starts_with(nspname, 'sluice_bench_')`
      return (await client.query(text)).rows
    }
    while ((await schemas()).length === 0) await later(50)
    const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
    const measuring = all.filter((line) => line.includes(join('postgres', 'child.js')))
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
    expect(measuring).not.toEqual([])
    expect(measuring.filter((line) => line.includes('postgres://'))).toEqual([])
    expect(await schemas()).toEqual([])
  })

  it.each(['bare', 'sluice'] as const)('64 clients and groups in random order: nothing too many, no deadlock (%s)', async (ring) => {
    const { audit, total, deadlocks } = await auditClients({ url, seconds: 1, ring })
    expect(total).toBeGreaterThan(64)
    expect([audit.overGrant, deadlocks]).toEqual([0, 0])
  })
})
