import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Engine, findPostgres, findRedis, freePort, startPostgres, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import pg from 'pg'
import { createLimiter, fixedWindow, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Finding, LimitUse } from '../src/stores/audit/report.ts'
import { type Ran, run } from './command.ts'

const [redis, postgres] = [findRedis(), findPostgres()]
const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly store: string
  readonly ok: boolean
  readonly server: Readonly<Record<string, unknown>>
  readonly findings: readonly Finding[]
  readonly limits: readonly LimitUse[]
  readonly looked: { readonly at: number; readonly of: number }
  readonly ran: Ran
}

async function audit(url: string, ...args: readonly string[]): Promise<Report> {
  const ran = await run(['audit', '--json', ...args], { SLUICE_STORE: url })
  if (ran.stdout === '') throw new Error(ran.stderr)
  return { ...(JSON.parse(ran.stdout) as Report), ran }
}

const severities = ({ findings }: Report): Record<string, string> => Object.fromEntries(findings.map(({ id, severity }) => [id, severity]))

const byName = ([a]: readonly unknown[], [b]: readonly unknown[]): number => (String(a) < String(b) ? -1 : 1)

/** A private server; a test of its own may spoil it. */
async function server(...extra: readonly string[]): Promise<{ engine: Engine; client: Redis }> {
  const engine = await startRedis('path' in redis ? redis.path : '', extra)
  const client = new Redis(engine.url)
  onTestFinished(async () => {
    client.disconnect()
    await engine.stop()
  })
  return { engine, client }
}

/** States of two limits, as a service makes them. */
async function fill(client: Redis, keys: number): Promise<void> {
  const store = redisStore({ client: ioredis(client) })
  // A window that is aligned to the clock could end, and its keys with it, before they are counted.
  const limits = { bucket: tokenBucket({ rate: '1/h', burst: 5 }), window: fixedWindow({ limit: 5, window: '1h', align: 'first' }) }
  const limiter = createLimiter({ name: 'api', limits, store, deadlineMs: 30_000 })
  await limiter.ready()
  for (let from = 0; from < keys; from += 500) {
    const requests = Array.from({ length: 500 }, (_, index) => ({ key: `secret-caller-${from + index}` }))
    const decisions = await limiter.checkMany(requests)
    expect(decisions.filter(({ allowed }) => !allowed)).toEqual([])
  }
  await limiter.close()
  await store.close()
}

describe.skipIf('missing' in redis)('audit of a Redis', () => {
  it('counts keys and bytes of each limit, and names no caller', async () => {
    const { engine, client } = await server('--maxmemory', '200mb', '--appendonly', 'yes')
    await fill(client, 2_000)
    const report = await audit(engine.url)
    expect(report).toMatchObject({ ok: true, ran: { code: 0, stderr: '' }, looked: { at: 4_000, of: 4_000 } })
    expect(report.server).toMatchObject({ kind: 'redis', topology: 'single', primaries: 1, maxmemory: 209_715_200, appendonly: 'yes' })
    const limits = report.limits.map(({ limit, algorithm, keys, withoutExpiry }) => [limit, algorithm, keys, withoutExpiry])
    expect(limits.toSorted(byName)).toEqual([
      ['api:bucket', 'token-bucket', 2_000, 0],
      ['api:window', 'fixed-window', 2_000, 0],
    ])
    for (const { bytes = 0 } of report.limits) expect(bytes / 2_000).toBeGreaterThan(50)
    expect(severities(report)).toEqual({ 'permissions-excess': 'warning', 'no-replica': 'note', 'no-password': 'note' })
    const text = await run(['audit', '--store', engine.url])
    expect(text.stdout).toMatch(/\nkeys of limits \(4000 keys\):\n {2}limit +algorithm +keys +bytes +without expiry\n/)
    expect(text.stdout + report.ran.stdout).not.toContain('secret-caller')
  })

  it('only reads, in bounded steps, and estimates the rest', async () => {
    const { engine, client } = await server()
    await fill(client, 4_000)
    await client.config('RESETSTAT')
    const report = await audit(engine.url, '--max-keys', '2000')
    expect(report.looked).toEqual({ at: 2_000, of: 8_000 })
    const keys = report.limits.reduce((sum, limit) => sum + limit.keys, 0)
    expect(keys / 8_000).toBeGreaterThan(0.8)
    expect(keys / 8_000).toBeLessThan(1.25)
    const called = [...(await client.info('commandstats')).matchAll(/^cmdstat_([\w|]+):/gm)].map(([, name]) => name as string)
    const reading = [
      'acl|dryrun',
      'acl|whoami',
      'client|setinfo',
      'config|get',
      'config|resetstat',
      'dbsize',
      'hello',
      'info',
      'memory|usage',
      'pttl',
      'scan',
      'time',
    ]
    expect(called.filter((name) => !reading.includes(name))).toEqual([])
    expect(Number(/^cmdstat_scan:calls=(\d+)/m.exec(await client.info('commandstats'))?.[1])).toBeLessThanOrEqual(2)
  })

  it('finds what is wrong, and ends with 1', async () => {
    const { engine, client } = await server('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru', '--timeout', '30')
    await client.set('sluice:{l6K}api:bucket:tb:secret-caller', 'x')
    await client.set('sluice:secret-caller', 'x')
    const report = await audit(engine.url)
    expect(severities(report)).toMatchObject({ eviction: 'error', 'no-expiry': 'warning', 'idle-timeout': 'note', 'not-kept': 'note' })
    expect(report.findings[0]).toMatchObject({ id: 'eviction', what: 'maxmemory-policy is allkeys-lru' })
    expect(report).toMatchObject({ ok: false, ran: { code: 1, stderr: expect.stringMatching(/^sluice: audit: one error was found\n$/) } })
    expect(report.limits.map(({ limit, withoutExpiry }) => [limit, withoutExpiry]).toSorted(byName)).toEqual([
      ['(other keys)', 1],
      ['api:bucket', 1],
    ])
    expect(report.ran.stdout).not.toContain('secret-caller')
    expect((await audit(engine.url, '--prefix', 'other:')).limits).toEqual([])
  })

  it('says which rights an account lacks, and which parts it could not read', async () => {
    const { engine, client } = await server()
    const rights =
      '+evalsha +eval +time +get +mget +set +del +getrange +strlen +setrange +append +pexpireat +hget +hmget +hset +hdel +hrandfield'
    const user = async (name: string, ...more: string[]): Promise<Report> => {
      const words = ['setuser', name, 'on', '>tops3cret', 'resetchannels', 'resetkeys', '~sluice:*', '-@all', ...rights.split(' ')]
      await client.call('acl', ...words, '+ping', '+info', '+hello', '+client|setname', ...more)
      return audit(engine.url.replace('//', `//${name}:tops3cret@`))
    }
    const exact = await user('exact')
    expect(severities(exact)).toMatchObject({ 'permissions-unknown': 'note', 'not-readable': 'note' })
    expect(exact.findings.find(({ id }) => id === 'not-readable')?.fix).toContain('+config|get')
    expect(exact.ran.stdout).not.toContain('tops3cret')
    const less = await user('less', '-time', '-evalsha')
    expect(less.findings[0]).toMatchObject({
      id: 'permissions-missing',
      what: 'the account may not call evalsha, time',
      fix: 'ACL SETUSER NAME +evalsha +time',
    })
    expect(less.ran.code).toBe(1)
    const reader = await user('reader', '-set', '+acl|whoami', '+acl|dryrun', '+scan', '+pttl', '+memory|usage', '+dbsize', '+config|get')
    expect(severities(reader)).toMatchObject({ 'permissions-missing': 'error' })
    expect(reader.findings[0]?.what).toBe('the account may not call set')
    expect(Object.keys(severities(reader))).not.toContain('permissions-excess')
    expect(Object.keys(severities(reader))).not.toContain('not-readable')
  })

  it('reads each primary of a cluster', async () => {
    const bus = await freePort()
    const { engine, client } = await server('--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-announce-ip', '127.0.0.1')
    const broken = await audit(engine.url.replace('redis:', 'redis+cluster:')).catch((error: Error) => error.message)
    expect(broken).toMatch(/^sluice: store redis\+cluster:\S+ cannot be reached: /)
    await client.call('cluster', 'addslotsrange', '0', '16383')
    await expect.poll(() => client.call('cluster', 'info')).toMatch(/^cluster_state:ok/)
    const report = await audit(engine.url.replace('redis:', 'redis+cluster:'))
    expect(report.server).toMatchObject({ topology: 'cluster', primaries: 1 })
    expect(severities(report)).not.toHaveProperty('cluster')
  })

  it('asks the sentinels', async () => {
    const { engine } = await server()
    const [port, away] = [await freePort(), await freePort()]
    const file = join(folder, 'sentinel.conf')
    const primary = new URL(engine.url)
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main ${primary.hostname} ${primary.port} 2\n`)
    const sentinel = spawn('path' in redis ? redis.path : '', [file, '--sentinel'], { stdio: 'ignore' })
    onTestFinished(() => void sentinel.kill('SIGKILL'))
    const url = `redis+sentinel://127.0.0.1:${port},127.0.0.1:${away}/main`
    const report = await expect
      .poll(() => audit(url).catch(() => undefined), { timeout: 20_000 })
      .toMatchObject({ server: { topology: 'sentinel' } })
      .then(() => audit(url))
    expect(severities(report)).toMatchObject({ 'sentinel-away': 'warning', 'sentinel-quorum': 'error', 'sentinel-few': 'note' })
  })
})

describe.skipIf('missing' in postgres)('audit of a PostgreSQL', () => {
  let engine: Engine
  let admin: pg.Client
  beforeAll(async () => {
    engine = await startPostgres('path' in postgres ? postgres.path : '')
    admin = new pg.Client({ connectionString: engine.url })
    await admin.connect()
  })
  afterAll(async () => {
    await admin?.end()
    await engine?.stop()
  })

  it('finds missing tables, and makes none', async () => {
    const report = await audit(engine.url)
    expect(severities(report)).toMatchObject({ tables: 'error', 'permissions-excess': 'warning', 'statement-timeout': 'note' })
    expect(report.ran.code).toBe(1)
    expect((await admin.query(`select from pg_class where relname like 'sluice%'`)).rowCount).toBe(0)
  })

  it('counts rows of each plan, and names missing rights and functions', async () => {
    expect((await run(['migrate', '--store', engine.url])).code).toBe(0)
    await admin.query(`insert into sluice_plan (plan_id, n, m, burst) values (7, 1, 1, 5000000);
insert into sluice_state (id, plan_id, kind, zero) select gen_random_uuid(), 7, 0, 0 from generate_series(1, 3000);
insert into sluice_state (id, plan_id, kind, ends) select gen_random_uuid(), 60000000, 1, 0 from generate_series(1, 500)`)
    const report = await audit(engine.url)
    expect(report).toMatchObject({ ok: true, looked: { at: 3_500, of: 3_500 }, server: { kind: 'postgresql' } })
    expect(report.limits).toMatchObject([
      { limit: 'burst 5', algorithm: 'token-bucket', keys: 3_000 },
      { limit: 'window 60 s', algorithm: 'fixed-window', keys: 500 },
    ])
    await admin.query(`create role less login; grant select on all tables in schema public to less`)
    const less = await audit(engine.url.replace(/\/\/[^@/]*@?/, '//less@'))
    expect(less.findings[0]).toMatchObject({
      id: 'permissions-missing',
      what: 'the account may not use sluice_state, sluice_plan, sluice_log',
    })
    expect(severities(less)).not.toHaveProperty('permissions-excess')
    const [row] = (await admin.query<{ name: string }>(`select name from sluice_functions where sha256 is null limit 1`)).rows
    await admin.query(`drop function ${row?.name ?? ''} cascade`)
    expect(severities(await audit(engine.url))).toMatchObject({ functions: 'error' })
  })
})

describe('audit', () => {
  it.each([
    [[], 3, '--store is missing'],
    [['--store', 'memory:'], 3, 'audit: memory: is inside one process'],
    [['--store', 'mysql://h'], 3, 'unknown kind'],
    [['--store', 'redis://127.0.0.1:1'], 2, 'store redis://127.0.0.1:1 cannot be reached'],
    [['--store', 'postgres://127.0.0.1:1/x'], 2, 'store postgres://127.0.0.1:1/x cannot be reached'],
    [['--store', 'redis://127.0.0.1:1', '--max-keys', '0'], 3, '--max-keys is "0": expected a whole number'],
    [['--store', 'redis://127.0.0.1:1', '--prefix', 'a b'], 3, '--prefix is not a prefix'],
  ])('refuses %j in one line', async (args, code, line) => {
    const ran = await run(['audit', ...args])
    expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringContaining(line)])
    expect(ran.stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
