import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRedis, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Ran, runBuilt } from './command.ts'
import { expectExact, SHORT } from './expect-exact.ts'

const { postgres, redis } = inject('engines')
const folder = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const verify = (...args: readonly string[]): Promise<Ran> => runBuilt(['verify', ...SHORT, ...args])

describe('verify', () => {
  it('leaves no folder behind that was not there', async () => {
    expectExact(await verify('--store', `pglite:${join(folder, 'made', 'deep')}`, '--json'), 1)
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(postgres === undefined)('lets two processes call a PostgreSQL, and leaves no schema', async () => {
    expectExact(await verify('--store', postgres as string, '--processes', '2', '--json'), 2)
    const client = new pg.Client({ connectionString: postgres })
    await client.connect()
    onTestFinished(() => client.end())
    expect((await client.query(`select nspname from pg_namespace where nspname like 'sluice\\_verify\\_%'`)).rows).toEqual([])
  })

  it.skipIf(redis === undefined)('lets four processes call a Redis, and leaves no key', async () => {
    expectExact(await verify('--store', redis as string, '--json'), 4)
    const client = new Redis(redis as string)
    onTestFinished(() => client.disconnect())
    expect(await client.keys('sluice_verify_*')).toEqual([])
  })
})

const server = redis === undefined ? { missing: 'no engine' } : findRedis()

describe.skipIf('missing' in server)('a store that forgets', () => {
  it('is found out', async () => {
    const engine = await startRedis('path' in server ? server.path : '')
    const client = new Redis(engine.url)
    const forgetting = setInterval(() => void client.flushall().catch(() => {}), 50)
    onTestFinished(async () => {
      clearInterval(forgetting)
      client.disconnect()
      await engine.stop()
    })
    const ran = await verify('--store', engine.url, '--processes', '2', '--json')
    const report = JSON.parse(ran.stdout) as Record<string, number>
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/^sluice: verify: redis:\S+ admitted more than the limit allows\n$/)
    expect([report['overGrantPercent'], report['worstOverGrant']]).toEqual([expect.any(Number), expect.any(Number)])
    expect(report['worstOverGrant']).toBeGreaterThan(0)
    expect(report['overGrantPercent']).toBeGreaterThan(0)
  })
})
