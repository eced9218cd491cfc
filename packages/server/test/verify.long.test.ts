import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRedis, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import pg from 'pg'
import { tokenBucket } from 'sluice'
import { afterAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { tryFaults } from '../src/commands/verify/faults.ts'
import { MAIN, type Ran, runBuilt, SYSTEM } from './command.ts'
import { expectExact, SHORT } from './expect-exact.ts'

const { postgres, redis } = inject('engines')
const folder = mkdtempSync(join(tmpdir(), 'sluice-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const verify = (...args: readonly string[]): Promise<Ran> => runBuilt(['verify', ...SHORT, ...args])

/** The keys or schemas of tests that a server has. */
async function left(url: string): Promise<unknown[]> {
  if (url.startsWith('redis')) {
    const client = new Redis(url)
    onTestFinished(() => client.disconnect())
    return client.keys('sluice_verify_*')
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return (await client.query(`select nspname from pg_namespace where nspname like 'sluice\\_verify\\_%'`)).rows
}

/** Makes the import of vitest fail, because users of the command do not have it installed. */
const WITHOUT_VITEST = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module'
  register('data:text/javascript,' + encodeURIComponent(\`export async function resolve(name, context, next) {
    if (name === 'vitest') throw new Error('vitest is not installed')
    return next(name, context)
  }\`))
`)}`

describe('verify', () => {
  it('needs no vitest, which an installed command does not have', async () => {
    const args = ['verify', ...SHORT, '--store', `pglite:${join(folder, 'installed')}`, '--json']
    expectExact(await runBuilt(args, { NODE_OPTIONS: `--import=${WITHOUT_VITEST}` }), 1)
  })

  it('leaves no folder behind that was not there', async () => {
    expectExact(await verify('--store', `pglite:${join(folder, 'made', 'deep')}`, '--json'), 1)
    expect(readdirSync(folder)).toEqual([])
  })

  it.skipIf(postgres === undefined)('lets two processes call a PostgreSQL, and leaves no schema', async () => {
    expectExact(await verify('--store', postgres as string, '--processes', '2', '--json'), 2)
    expect(await left(postgres as string)).toEqual([])
  })

  it.skipIf(redis === undefined)('lets four processes call a Redis, and leaves no key', async () => {
    expectExact(await verify('--store', redis as string, '--json'), 4)
    expect(await left(redis as string)).toEqual([])
  })
})

describe('SIGINT while verify connects to its store', () => {
  /** Runs the built command against a server of this test. The server can interrupt the command by SIGINT. */
  async function interrupted(url: (port: number) => string, serve: (socket: Socket, interrupt: () => void) => void): Promise<unknown[]> {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      serve(socket, () => child.kill('SIGINT'))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const args = ['verify', ...SHORT, '--store', url((server.address() as AddressInfo).port)]
    const child = spawn(process.execPath, [MAIN, ...args], { env: SYSTEM, stdio: ['ignore', 'ignore', 'pipe'] })
    let text = ''
    child.stderr.on('data', (data: Buffer) => (text += data.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    return [code, text]
  }

  it.each([
    ['Redis', (port: number) => `redis://127.0.0.1:${port}`],
    ['PostgreSQL', (port: number) => `postgres://127.0.0.1:${port}/db`],
  ])('ends it with exit code 130 if %s does not answer', async (_name, url) => {
    expect(await interrupted(url, (_socket, interrupt) => interrupt())).toEqual([130, 'sluice: verify: stopped by SIGINT\n'])
  })

  it.skipIf(postgres === undefined)('removes a schema that is being made', async () => {
    const place = new URL(postgres as string)
    const behind = (port: number): string => Object.assign(new URL(place), { host: `127.0.0.1:${port}` }).href
    const relay = (socket: Socket, interrupt: () => void): void => {
      const server = connect(Number(place.port || 5_432), place.hostname).on('error', () => socket.destroy())
      socket.on('data', (data) => (data.includes('create schema') ? interrupt() : undefined))
      socket.pipe(server).pipe(socket)
    }
    expect(await interrupted(behind, relay)).toEqual([130, 'sluice: verify: stopped by SIGINT\n'])
    expect(await left(postgres as string)).toEqual([])
  })
})

describe('verify --faults', () => {
  interface Found {
    readonly fault: string
    readonly policy: string
    readonly calls: number
    readonly decided: number
    readonly passed: number
    readonly passedByPolicy: number
    readonly permitted: number
    readonly backAfterMs: number
  }

  it.skipIf(redis === undefined)('Redis: what each failure policy does while the store is slow, silent or away', async () => {
    expectFaults(await verify('--faults', '--store', redis as string, '--json'))
    expect(await left(redis as string)).toEqual([])
  })

  it.skipIf(postgres === undefined)('PostgreSQL: the same, and no schema is left', async () => {
    expectFaults(await verify('--faults', '--store', postgres as string, '--json'))
    expect(await left(postgres as string)).toEqual([])
  })

  it.each([
    [['--faults'], 'answers 20 ms late', redis],
    [['--faults'], 'no answers', redis],
    [['--faults'], 'no answers', postgres],
    [[], 'calling the store', redis],
    [[], 'calling the store', postgres],
  ])('verify %j leaves no key and no schema when it is interrupted (%s)', async (args, when, url) => {
    if (url === undefined) return
    // The rate keeps a key for hours.
    const all = ['verify', '--seconds', '2', '--callers', '4', '--rate', '1/h', '--progress', '--store', url, ...args]
    const child = spawn(process.execPath, [MAIN, ...all], { env: SYSTEM, stdio: ['ignore', 'ignore', 'pipe'] })
    let [text, sent] = ['', false]
    child.stderr.on('data', (data: Buffer) => {
      text += data.toString()
      if (!sent && text.includes(when)) sent = child.kill('SIGINT')
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, text]).toEqual([130, expect.stringMatching(/\nsluice: verify: stopped by SIGINT\n$/)])
    expect(text).not.toContain('warning')
    expect(await left(url)).toEqual([])
  })

  function expectFaults({ code, stderr, stdout }: Ran): void {
    expect([code, stderr]).toEqual([0, ''])
    const { faults, wholeRun, ok } = JSON.parse(stdout) as { faults: readonly Found[]; wholeRun: Record<string, number>; ok: boolean }
    expect([ok, wholeRun['worstOverGrant']]).toEqual([true, 0])
    expect(wholeRun['allowed']).toBeGreaterThanOrEqual(10)
    expect(wholeRun['allowed']).toBeLessThanOrEqual(wholeRun['theoreticalMax'] as number)
    const faultNames = ['none', 'answers 20 ms late', 'answers 200 ms late', 'no answers', 'no connections']
    expect(faults.map(({ fault, policy }) => `${fault}, ${policy}`)).toEqual(
      faultNames.flatMap((fault) => ['deny', 'allow', 'local'].map((policy) => `${fault}, ${policy}`)),
    )
    for (const { fault, policy, calls, decided, passed, passedByPolicy, permitted, backAfterMs } of faults) {
      const where = `${fault}, ${policy}`
      const away = fault === 'no answers' || fault === 'no connections'
      expect([where, calls > 0, backAfterMs > 0]).toEqual([where, true, true])
      // A store that is away decides no call. When the breaker opens, leased tokens and remembered denials are dropped, so they decide none
      // either.
      if (fault === 'none') expect([where, decided > 0]).toEqual([where, true])
      if (policy === 'deny') expect([where, passedByPolicy, passed <= permitted]).toEqual([where, 0, true])
      if (policy === 'allow' && away) expect([where, passedByPolicy]).toEqual([where, calls - decided])
      // The local fallback has a burst of 10 tokens of its own. So under this policy up to 10 tokens more may pass.
      if (policy === 'local') expect([where, passed <= permitted + 10]).toEqual([where, true])
    }
  }
})

const server = redis === undefined ? { missing: 'no engine' } : findRedis()

describe.skipIf('missing' in server)('a store that forgets', () => {
  async function started(): Promise<{ readonly url: string; readonly client: Redis }> {
    const engine = await startRedis('path' in server ? server.path : '')
    const client = new Redis(engine.url)
    onTestFinished(async () => {
      client.disconnect()
      await engine.stop()
    })
    return { url: engine.url, client }
  }

  async function forgetting(): Promise<string> {
    const { url, client } = await started()
    const every = setInterval(() => void client.flushall().catch(() => {}), 50)
    onTestFinished(() => clearInterval(every))
    return url
  }

  it('is found out', async () => {
    const ran = await verify('--store', await forgetting(), '--processes', '2', '--json')
    const report = JSON.parse(ran.stdout) as Record<string, number>
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/^sluice: verify: redis:\S+ admitted more than the limit allows\n$/)
    expect([report['overGrantPercent'], report['worstOverGrant']]).toEqual([expect.any(Number), expect.any(Number)])
    expect(report['worstOverGrant']).toBeGreaterThan(0)
    expect(report['overGrantPercent']).toBeGreaterThan(0)
  })

  it('is found out with --faults', async () => {
    const ran = await verify('--faults', '--store', await forgetting())
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/^sluice: verify: redis:\S+: more passed under deny than the limit allows\n$/)
    const [, worst] = /^worst interval ([\d.]+) above burst \+ rate \* t\.$/m.exec(ran.stdout) ?? []
    expect(Number(worst)).toBeGreaterThan(0)
  })

  it('is found out with --faults also if it forgets between two faults only, when no fault alone has too many', async () => {
    const { url, client } = await started()
    const forget = (): void => void client.flushall()
    const { findings, wholeRun } = await tryFaults({
      // Longer than denials are remembered: the store must be called again.
      task: { url, space: 'sluice_verify_between', rate: '1/h', burst: 10, callers: 4, ms: 1_500 },
      limit: tokenBucket({ rate: '1/h', burst: 10 }),
      progress: { show: () => {}, clock: forget, end: () => {} },
      stop: new AbortController().signal,
      warn: (line) => expect(line).toBe(''),
    })
    const denying = findings.filter(({ policy }) => policy === 'deny')
    expect(denying.map(({ overGrantPercent }) => overGrantPercent)).toEqual([0, 0, 0, 0, 0])
    // After each loss, the store grants a burst again. Some of these answers may come too late to be counted.
    expect(wholeRun.worstOverGrant).toBeGreaterThanOrEqual(1)
    expect(wholeRun.allowed - wholeRun.theoreticalMax).toBeGreaterThanOrEqual(1)
  })
})

describe.skipIf('missing' in server)('a server that is gone in the end', () => {
  it('gets one line about what it may still have', async () => {
    const engine = await startRedis('path' in server ? server.path : '')
    const [stopping, lines] = [new AbortController(), [] as string[]]
    const end = (): void => void engine.stop().then(() => stopping.abort(new Error('stopped')))
    const ran = tryFaults({
      task: { url: engine.url, space: 'sluice_verify_gone', rate: '10/s', burst: 10, callers: 4, ms: 300 },
      limit: tokenBucket({ rate: '10/s', burst: 10 }),
      progress: { show: () => {}, clock: (text) => void (text.startsWith('no fault') && end()), end: () => {} },
      stop: stopping.signal,
      warn: (line) => lines.push(line),
    })
    await expect(ran).rejects.toThrow('stopped')
    expect(lines).toEqual([expect.stringMatching(/^verify: the states sluice_verify_gone could not be removed from redis:\S+: \S/)])
  })

  it('gets that line also without --faults, and the findings are printed', async () => {
    const engine = await startRedis('path' in server ? server.path : '')
    onTestFinished(() => engine.stop())
    const all = ['verify', '--seconds', '3', '--callers', '4', '--processes', '1', '--progress', '--json', '--store', engine.url]
    const child = spawn(process.execPath, [MAIN, ...all], { env: SYSTEM, stdio: ['ignore', 'pipe', 'pipe'] })
    let [report, lines, ended] = ['', '', false]
    child.stdout.on('data', (data: Buffer) => (report += data.toString()))
    child.stderr.on('data', (data: Buffer) => {
      lines += data.toString()
      if (ended || !lines.includes('calling the store')) return
      ended = true
      void engine.stop()
    })
    const [code] = (await once(child, 'close')) as [number | null]
    expect([code, lines]).toEqual([
      1,
      expect.stringMatching(
        /\nsluice: warning: verify: the states sluice_verify_\w+ could not be removed from redis:\S+: [^\n]+\nsluice: verify: [^\n]+\n$/,
      ),
    ])
    expect(JSON.parse(report)).toMatchObject({ ok: false, errors: expect.any(Number) })
  })
})
