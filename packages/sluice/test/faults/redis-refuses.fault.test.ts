import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLimiter, type Decision, type Limiter } from '../../src/index.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { advised, type Greeting, noRedis, privateRedis } from './private-redis.ts'
import { plenty } from './stopped.ts'
import { underFault } from './under-fault.ts'
import { until } from './until.ts'

/** With these options the client sends nothing before it is ready. So the request that the server refuses is the store's own. */
const BARE: Greeting = { enableReadyCheck: false, protocol: 2, disableClientInfo: true }

async function open(port: number): Promise<Redis> {
  const client = advised(port, BARE)
  onTestFinished(() => client.disconnect())
  await new Promise((resolve) => client.once('ready', resolve))
  return client
}

/**
 * Makes a limiter over a Redis with these settings. Its deadline is long, so every failure is an answer of the server and not a timeout.
 */
async function over(...settings: readonly string[]): Promise<{ limiter: Limiter; client: Redis; port: number }> {
  const { port, stop } = await privateRedis(settings)
  onTestFinished(stop)
  const client = await open(port)
  return { limiter: createLimiter({ limit: plenty, store: bareRedisStore({ client: ioredis(client) }), deadlineMs: 5_000 }), client, port }
}

function refused(kind: string): Partial<Decision> {
  return { outcome: 'undecided', allowed: false, limits: [], degraded: expect.objectContaining({ kind, executed: 'no' }) }
}

describe.skipIf(noRedis)('a Redis that answers but does not decide', () => {
  it('wants a password', async () => {
    const { limiter } = await over('--requirepass', 'secret')
    expect(await limiter.check('k')).toMatchObject(refused('setup'))
  })

  it('lets this user run no scripts', async () => {
    const { limiter, client } = await over()
    await client.acl('SETUSER', 'default', '-@scripting')
    expect(await limiter.check('k')).toMatchObject(refused('setup'))
  })

  it('is a replica that may not be written', async () => {
    const { limiter } = await over('--replicaof', '127.0.0.1', '1')
    expect(await limiter.check('k')).toMatchObject(refused('readonly'))
  })

  it('is a replica without its master, and will not serve what is old', async () => {
    const { limiter } = await over('--replicaof', '127.0.0.1', '1', '--replica-serve-stale-data', 'no')
    expect(await limiter.check('k')).toMatchObject(refused('unavailable'))
  })

  it('has no memory left', async () => {
    const { limiter } = await over('--maxmemory', '1mb', '--maxmemory-policy', 'noeviction')
    const decisions = await Promise.all(Array.from({ length: 8_000 }, (_, index) => limiter.check(`key-${index}`, { deadlineMs: 30_000 })))
    const full = decisions.filter(({ outcome }) => outcome !== 'allowed')
    expect(full.length).toBeGreaterThan(0)
    for (const decision of full) expect(decision).toMatchObject(refused('memory'))
  })

  it('has no memory left, for another has filled it: back as soon as there is room', async () => {
    const { port, stop } = await privateRedis(['--maxmemory', '4mb', '--maxmemory-policy', 'noeviction'])
    onTestFinished(stop)
    const [client, other] = [await open(port), await open(port)]
    const { kinds } = await underFault({ store: bareRedisStore({ client: ioredis(client) }), bound: 0 }, async () => {
      const [end, names] = [performance.now() + 700, [] as string[]]
      let refusals = 0
      // The callers must call while the memory is full, however long this process is kept from running.
      while (performance.now() < end || refusals < 20) {
        const name = `other-${names.length}`
        // The other client fills the memory by a short command whose value is larger than what buffers set free. After the last one that
        // fits, there is no room for anybody.
        if (Number.isInteger(await other.setrange(name, 50_000, 'x').catch(() => 'OOM'))) names.push(name)
        else refusals += 1
      }
      await other.del(...names)
    })
    expect(kinds).toContain('memory')
    expect(['memory', 'timeout']).toEqual(expect.arrayContaining([...kinds]))
  })

  it('has fewer replicas than it must have', async () => {
    const { limiter, client } = await over('--min-replicas-to-write', '1')
    expect(await limiter.check('k')).toMatchObject(refused('unavailable'))
    await client.config('SET', 'min-replicas-to-write', 0)
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it('is still loading what it kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-loading-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const before = await privateRedis(['--dir', folder])
    const writer = await open(before.port)
    await writer.mset(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`key-${index}`, index])))
    await writer.save()
    writer.disconnect()
    await before.stop()
    // It would take 20 seconds, so that it is still loading when it is called. After that it may be quick.
    const slowly = ['--key-load-delay', '10000', '--loading-process-events-interval-bytes', '1024']
    const { limiter, client } = await over('--dir', folder, ...slowly)
    expect(await limiter.check('k')).toMatchObject(refused('unavailable'))
    await client.config('SET', 'key-load-delay', 0)
    await until('it has loaded', async () => (await limiter.check('k')).outcome === 'allowed')
  })

  it('runs an endless script of another client', async () => {
    const { limiter, port } = await over('--busy-reply-threshold', '20')
    await limiter.check('k')
    const [culprit, saviour] = [await open(port), await open(port)]
    const endless = culprit.eval('while true do end', 0).catch((error: unknown) => error)
    await until('the server says that it is busy', async () =>
      saviour.ping().then(
        () => false,
        (error: unknown) => String(error).includes('BUSY'),
      ),
    )
    expect(await limiter.check('k')).toMatchObject(refused('unavailable'))
    await saviour.script('KILL')
    expect(String(await endless)).toContain('killed')
    expect(await limiter.check('k')).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it('takes no more clients', async () => {
    const { port, client: first } = await over('--maxclients', '1')
    // The connection by which the test saw that the server is up may not be gone yet.
    await until('the first client is in', async () => (await first.ping()) === 'PONG')
    const client = advised(port, BARE)
    onTestFinished(() => client.disconnect())
    const limiter = createLimiter({ limit: plenty, store: bareRedisStore({ client: ioredis(client) }), deadlineMs: 5_000 })
    const kinds = new Set<string>()
    for (let index = 0; index < 100; index += 1) {
      const decision = await limiter.check('k')
      expect(decision).toMatchObject({ outcome: 'undecided', allowed: false })
      kinds.add(decision.degraded?.kind ?? '')
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(['connection', 'unavailable']).toEqual(expect.arrayContaining([...kinds]))
  })
})
