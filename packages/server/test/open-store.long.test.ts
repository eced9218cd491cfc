import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { findRedis, startRedis } from '@sluice/scripts/engines'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { CommandFailure } from '../src/cli/failure.ts'
import { openStore } from '../src/stores/open-store.ts'
import { run, serve } from './command.ts'
import { exchange } from './raw.ts'

/** In milliseconds, how long opening may take: long enough for a server that answers, even on a busy machine. */
const SHORT_MS = 400
/** Also long enough to connect while a busy machine stands still, so that it is the answer that is late. */
const CONNECTED_MS = 2_000
const engines = inject('engines')

async function refusalOf(url: string, startMs: number): Promise<CommandFailure> {
  const opened = await openStore(url, { startMs }).catch((error: unknown) => error)
  if (opened instanceof CommandFailure) return opened
  throw new Error('it was opened, or broke', { cause: opened })
}

describe('a server that takes connections and says nothing', () => {
  const sockets = new Set<Socket>()
  let silent: Server
  let address: string
  beforeAll(async () => {
    silent = createServer((socket) => {
      sockets.add(socket.resume().on('error', () => {}))
      socket.once('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })

  it.each(['redis', 'postgres'])('is given up as a %s, and the client lets go of it', async (scheme) => {
    const failure = await refusalOf(`${scheme}://u:secret@${address}`, SHORT_MS)
    expect(failure.exitCode).toBe(2)
    expect(failure.message).toContain(`store ${scheme}://***@${address} cannot be reached: `)
    expect(failure.message).toMatch(/no answer within 0\.4 s|could be made in time/)
    await expect.poll(() => sockets.size).toBe(0)
  })

  it('ends serve in one line, after seconds', async () => {
    const ran = await Promise.all(
      ['redis', 'postgres'].map((scheme) =>
        run(['serve', '--demo', '--require-store'], { PORT: '0', SLUICE_STORE: `${scheme}://u:secret@${address}` }),
      ),
    )
    for (const { code, stdout, stderr } of ran) {
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^sluice: store \w+:\/\/\*\*\*@127\.0\.0\.1:\d+ cannot be reached: [^\n]+\n$/)
    }
  })
})

describe.skipIf(engines.postgres === undefined)('a PostgreSQL that holds the lock of migrations', () => {
  it('is given up', async () => {
    const url = new URL(engines.postgres ?? '')
    const admin = new pg.Client({ connectionString: url.href })
    await admin.connect()
    const name = `sluice_lock_${process.pid}`
    await admin.query(`create database ${name}`)
    url.pathname = `/${name}`
    const holder = new pg.Client({ connectionString: url.href })
    await holder.connect()
    onTestFinished(async () => {
      await holder.end()
      await admin.query(`drop database ${name} with (force)`)
      await admin.end()
    })
    await holder.query(`select pg_advisory_lock(7218054101)`)
    const failure = await refusalOf(url.href, CONNECTED_MS)
    expect([failure.exitCode, failure.message]).toEqual([2, expect.stringContaining('no answer within 2 s')])
    await holder.query(`select pg_advisory_unlock_all()`)
    const opened = await openStore(url.href)
    await opened.close()
  })
})

const redis = engines.redis === undefined ? { missing: 'no engine' } : findRedis()

describe.skipIf('missing' in redis)('a Redis with a password', () => {
  it.each([
    ['u:wrong@', 'WRONGPASS'],
    [':wrong@', 'WRONGPASS'],
    ['', 'NOAUTH'],
  ])('refuses redis://%s... with its reason', async (credentials, reason) => {
    const engine = await startRedis('path' in redis ? redis.path : '')
    onTestFinished(engine.stop)
    await exchange(engine.url, 'CONFIG SET requirepass right\r\nQUIT\r\n')
    const url = engine.url.replace('//', `//${credentials}`)
    const ran = await run(['serve', '--demo'], { PORT: '0', SLUICE_STORE: url })
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toMatch(new RegExp(`^sluice: store redis://.* cannot be reached: ${reason} [^\n]+\n$`))
    expect(ran.stderr).not.toContain('wrong@')
  })
})

describe.skipIf('missing' in redis)('a database that the Redis does not have', () => {
  const path = 'path' in redis ? redis.path : ''

  it.each([[[]], [['--require-store']]])('is refused at the start, with %j too', async (more) => {
    const engine = await startRedis(path)
    onTestFinished(engine.stop)
    const ran = await run(['serve', '--demo', '--store', new URL('/99', engine.url).href, ...more], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([2, ''])
    expect(ran.stderr).toMatch(/^sluice: store redis:\/\/\S+\/99 cannot be reached: ERR DB index is out of range\n$/)
  })

  it('is never another one, also where the server comes back with fewer', async () => {
    const engine = await startRedis(path)
    const service = await serve(['--demo', '--store', new URL('/9', engine.url).href])
    onTestFinished(async () => void (await service.stop()))
    const check = async (): Promise<unknown> => {
      const answer = await fetch(`${service.url}/v1/check`, {
        method: 'POST',
        body: JSON.stringify({ method: 'GET', path: '/', ip: '192.0.2.1' }),
      })
      return ((await answer.json()) as { source?: unknown }).source
    }
    // The demo has the default deadline, which a busy machine may miss.
    await expect.poll(check).toBe('store')
    await engine.stop()
    const back = await startRedis(path, ['--databases', '4'], Number(new URL(engine.url).port))
    onTestFinished(back.stop)
    const refusals = async (): Promise<number> => {
      expect(await check()).not.toBe('store')
      return Number(/cmdstat_select:.*failed_calls=(\d+)/.exec(await exchange(back.url, 'INFO commandstats\r\nQUIT\r\n'))?.[1] ?? 0)
    }
    await expect.poll(refusals, { timeout: 20_000 }).toBeGreaterThan(3)
    expect(await exchange(back.url, 'DBSIZE\r\nQUIT\r\n')).toContain(':0\r\n')
    expect((await fetch(`${service.url}/readyz`)).ok).toBe(false)
  })

  it('is not checked on a cluster, which has the first alone', async () => {
    const ran = await run(['serve', '--demo', '--store', 'redis+cluster://127.0.0.1:1/3'], { PORT: '0' })
    expect([ran.code, ran.stdout]).toEqual([3, ''])
    expect(ran.stderr).toBe('sluice: store redis+cluster://127.0.0.1:1/3 names database 3: a cluster has database 0 alone\n')
  })
})

describe('11: a store in this process whose URL says more', () => {
  it.each([
    ['memory:?tls=1', 'has more than its scheme: expected memory:'],
    ['memory:x', 'has more than its scheme: expected memory:'],
    ['pglite:x?foo=1', 'has parameters behind a question mark: expected pglite:DIR, which has none'],
  ])('is refused as %s in one line', async (url, mistake) => {
    const failure = await refusalOf(url, SHORT_MS)
    expect([failure.exitCode, failure.message]).toEqual([3, `store ${url} ${mistake}`])
  })
})
