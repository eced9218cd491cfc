import { findPostgres, findRedis, startPostgres, startRedis } from '@sluice/scripts/engines'
import pg from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Running, run, serve, serveBuilt } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { exchange } from './raw.ts'

const policyFile = policyFiles()
const policyOf = (failure: string): string =>
  policyFile(
    `version: 1\nfailure: { deadline: 1s, policy: ${failure} }\nrules:\n  - { name: a, key: ["header:x-a"], rate: 1/h, burst: 2 }\n`,
  )
const engines = inject('engines')
const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()
const path = 'path' in redis ? redis.path : ''

async function started(args: readonly string[], starts: (args: readonly string[]) => Promise<Running> = serve): Promise<Running> {
  const service = await starts(args)
  onTestFinished(async () => void (await service.stop()))
  return service
}

async function readiness(url: string): Promise<[number, string]> {
  const answer = await fetch(`${url}/readyz`)
  return [answer.status, ((await answer.json()) as { status: string }).status]
}

const checkAt = async (url: string): Promise<{ outcome: string; allowed: boolean; source: string }> =>
  (await (await fetch(`${url}/v1/check`, { method: 'POST', body: '{"key":"k","limit":"a"}' })).json()) as never

describe.skipIf('missing' in redis)('O3: serve, with its Redis away at the start', () => {
  it.each([
    ['deny', [503, 'unavailable'], { outcome: 'undecided', allowed: false }],
    ['allow', [200, 'degraded'], { outcome: 'undecided', allowed: true }],
    ['local', [200, 'degraded'], { outcome: 'allowed', source: 'fallback' }],
  ])('under %s it serves, says so, and decides in Redis when that is there', async (failure, ready, decision) => {
    const engine = await startRedis(path)
    const port = Number(new URL(engine.url).port)
    await engine.stop()
    const service = await started([policyOf(failure), '--store', engine.url])
    expect(service.output()).toContain(` warn  store ${engine.url} cannot be reached: `)
    expect(service.output()).toContain('; serving without it, and trying again\n')
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
    expect(await readiness(service.url)).toEqual(ready)
    expect(await checkAt(service.url)).toMatchObject(decision)
    const back = await startRedis(path, [], port)
    onTestFinished(back.stop)
    await expect.poll(() => readiness(service.url), { timeout: 20_000 }).toEqual([200, 'ready'])
    await expect
      .poll(service.output, { timeout: 20_000 })
      .toMatch(/ info {2}store \S+ is back after [\d.]+ s; [1-9]\d* decisions? (?:was|were) made without it$/m)
    await expect.poll(async () => (await checkAt(service.url)).source, { timeout: 20_000 }).toBe('store')
    expect(service.output().split('cannot be reached')).toHaveLength(2)
  })

  it('says why, once, where it comes back and refuses', async () => {
    const engine = await startRedis(path)
    const port = Number(new URL(engine.url).port)
    await engine.stop()
    const service = await started([policyOf('deny'), '--store', engine.url])
    const back = await startRedis(path, ['--user', 'default', 'on', 'nopass', '~*', '&*', '-@all', '+ping', '+acl'], port)
    onTestFinished(back.stop)
    const refused = ` warn  store ${engine.url} cannot be reached: redis: NOPERM`
    await expect.poll(service.output, { timeout: 20_000 }).toContain(refused)
    // The service goes on trying to connect: the server's ACL log counts each refused command.
    const denied = async (): Promise<number> => {
      const log = await exchange(back.url, 'ACL LOG\r\nQUIT\r\n')
      return [...log.matchAll(/count\r\n:(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    const before = await denied()
    await expect.poll(denied, { timeout: 30_000 }).toBeGreaterThan(before + 2)
    expect(service.output().split(refused)).toHaveLength(2)
    await exchange(back.url, 'ACL SETUSER default +@all\r\nQUIT\r\n')
    await expect.poll(() => readiness(service.url), { timeout: 20_000 }).toEqual([200, 'ready'])
  })

  it('ends with exit code 2 under --require-store', async () => {
    const engine = await startRedis(path)
    await engine.stop()
    const ran = await run(['serve', policyOf('allow'), '--store', engine.url, '--require-store'], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toMatch(/^sluice: store \S+ cannot be reached: [^\n]+\n$/)
  })

  it('serves with several workers, one of which says so', { timeout: 120_000 }, async () => {
    const engine = await startRedis(path)
    const port = Number(new URL(engine.url).port)
    await engine.stop()
    const service = await started([policyOf('deny'), '--store', engine.url, '--workers', '2'], serveBuilt)
    await expect.poll(() => readiness(service.url), { timeout: 60_000 }).toEqual([503, 'unavailable'])
    expect(service.output().split('cannot be reached')).toHaveLength(2)
    const back = await startRedis(path, [], port)
    onTestFinished(back.stop)
    await expect.poll(() => readiness(service.url), { timeout: 20_000 }).toEqual([200, 'ready'])
  })

  it('stops at once while it tries again', async () => {
    const service = await serveBuilt([policyOf('deny'), '--store', 'redis://127.0.0.1:1'])
    expect(await service.stop()).toBe(0)
  })
})

describe.skipIf('missing' in redis)('S6: what a Redis says of itself', () => {
  it('is a warning each at the start: a read-only replica, an evicting policy', async () => {
    const primary = await startRedis(path)
    onTestFinished(primary.stop)
    const replica = await startRedis(path, ['--replicaof', '127.0.0.1', new URL(primary.url).port, '--maxmemory-policy', 'allkeys-lru'])
    onTestFinished(replica.stop)
    const service = await started([policyOf('deny'), '--store', replica.url])
    const warnings = service
      .output()
      .split('\n')
      .filter((line) => line.includes(' warn  store'))
    expect(warnings.map((line) => line.slice(line.indexOf(' warn ')))).toEqual([
      ` warn  store ${replica.url} is a read-only replica, which can decide nothing; name its primary`,
      ` warn  store ${replica.url} has maxmemory-policy allkeys-lru: what it evicts forgets what keys have used, and denied keys pass; set noeviction`,
    ])
    expect(await readiness(service.url)).toEqual([503, 'unavailable'])
    const open = await started([policyOf('allow'), '--store', replica.url, '--require-store'])
    expect(await readiness(open.url)).toEqual([200, 'degraded'])
    const looked = await run(['inspect', 'k', '--limit', 'a', '--store', replica.url, '--policy', policyOf('deny')])
    expect([looked.code, looked.stderr]).toEqual([0, ''])
  })

  it('is no warning where it is fit, nor where the account may not query it', async () => {
    const engine = await startRedis(path, ['--maxmemory-policy', 'volatile-ttl'])
    onTestFinished(engine.stop)
    await exchange(engine.url, 'ACL SETUSER limited on >pw ~* +@all -info\r\nQUIT\r\n')
    const limited = await started([policyOf('deny'), '--store', engine.url.replace('//', '//limited:pw@')])
    expect(limited.output()).not.toContain('maxmemory-policy')
    await exchange(engine.url, 'CONFIG SET maxmemory-policy noeviction\r\nQUIT\r\n')
    const fit = await started([policyOf('deny'), '--store', engine.url])
    expect(fit.output()).not.toContain(' warn ')
  })
})

const postgres = engines.postgres === undefined ? { missing: 'no engine' } : findPostgres()

describe.skipIf('missing' in postgres)('O3: serve, with its PostgreSQL away at the start', () => {
  it('makes the tables when it is there, and decides in it', { timeout: 120_000 }, async () => {
    const engine = await startPostgres('path' in postgres ? postgres.path : '')
    onTestFinished(engine.stop)
    const url = new URL(engine.url)
    // A missing database on a server that answers is an error at the start. A server that does not answer is only away, and the service
    // starts without it.
    const refused = await run(['serve', policyOf('deny'), '--store', `${url.protocol}//${url.username}@${url.host}/no_such_database`], {
      PORT: '0',
    })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('no_such_database')])
    engine.signal('SIGSTOP')
    const service = await started([policyOf('allow'), '--store', engine.url])
    expect(service.output()).toContain('; serving without it, and trying again\n')
    expect(await readiness(service.url)).toEqual([200, 'degraded'])
    engine.signal('SIGCONT')
    await expect.poll(() => readiness(service.url), { timeout: 30_000 }).toEqual([200, 'ready'])
    await expect.poll(async () => (await checkAt(service.url)).source, { timeout: 20_000 }).toBe('store')
  })
})

describe.skipIf(inject('engines').postgres === undefined)('7: a PostgreSQL that may not write', () => {
  it('is one warning at the start, not ready under deny, and can be inspected', async () => {
    const url = new URL(inject('engines').postgres ?? '')
    const admin = new pg.Client({ connectionString: url.href })
    await admin.connect()
    const name = `sluice_closed_${process.pid}`
    await admin.query(`create database ${name}`)
    url.pathname = `/${name}`
    onTestFinished(async () => {
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    })
    const fit = await started([policyOf('deny'), '--store', url.href])
    expect([fit.output().includes(' warn '), await readiness(fit.url)]).toEqual([false, [200, 'ready']])
    const closed = `${url.href}?options=-c%20default_transaction_read_only%3Don`
    const why = 'is read-only by default_transaction_read_only, and can decide nothing; set it to off'
    for (const more of [[], ['--require-store']]) {
      const service = await started([policyOf('deny'), '--store', closed, ...more])
      await expect.poll(() => service.output()).toContain(' warn ')
      const warnings = service
        .output()
        .split('\n')
        .filter((line) => line.includes(' warn '))
      expect(warnings).toEqual([expect.stringContaining(` warn  store ${url.href.replace(/\/\/.*@/, '//***@')}?*** ${why}`)])
      expect(await readiness(service.url)).toEqual([503, 'unavailable'])
    }
    const open = await started([policyOf('allow'), '--store', closed])
    expect(await readiness(open.url)).toEqual([200, 'degraded'])
    const looked = await run(['inspect', 'k', '--limit', 'a', '--store', closed, '--policy', policyOf('deny')])
    expect([looked.code, looked.stderr]).toEqual([0, ''])
  })
})
