import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, inject, it, onTestFinished } from 'vitest'

const { redis: url } = inject('engines')

interface Example {
  readonly child: ChildProcess
  /** Resolves when the example has ended, with its exit code and all that it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>
  /** Resolves with the address that the server prints when it listens; rejects if the example ends before that. */
  readonly address: Promise<string>
}

/** Starts a built example (`npm test` builds before it tests); it is stopped when the test is over. */
function start(file: string, env: NodeJS.ProcessEnv = {}): Example {
  const program = join(import.meta.dirname, '..', 'dist', file)
  const child = spawn(process.execPath, [program], { env: { ...process.env, PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  let listens: (address: string) => void
  const listening = new Promise<string>((resolve) => (listens = resolve))
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      text += data.toString()
      const address = /listens on (\S+)\n/.exec(text)?.[1]
      if (address !== undefined) listens(address)
    })
  }
  const ended = new Promise<{ code: number | null; text: string }>((resolve) => child.once('close', (code) => resolve({ code, text })))
  const gone = ended.then(({ code, text: printed }): never => {
    throw new Error(`${file} ended with ${code}:\n${printed}`)
  })
  const address = Promise.race([listening, gone])
  address.catch(() => {})
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  return { child, ended, address }
}

interface Sent {
  readonly passed: Response[]
  /** How many requests the store did not decide by the deadline (503). Each of them may have been charged. */
  readonly late: number
  readonly refused: Response
}

/** Sends requests, one after the other, until one is refused. Throws if `most` requests have passed before that. */
async function sendUntilRefused(address: string, most: number): Promise<Sent> {
  const passed: Response[] = []
  let late = 0
  while (passed.length < most) {
    const answer = await fetch(address)
    // 503: on a busy machine the store may miss the deadline.
    if (answer.status === 503) late += 1
    else if (answer.status !== 200) return { passed, late, refused: answer }
    else passed.push(answer)
  }
  throw new Error(`${most} requests passed and none was refused`)
}

describe('examples/quick-start', () => {
  it.skipIf(url === undefined)('answers with headers, then 429 with Retry-After', async () => {
    const redis = new Redis(url ?? '')
    onTestFinished(async () => {
      await redis.del('rl:user:127.0.0.1')
      await redis.quit()
    })
    const address = await start('quick-start/server.js', { REDIS_URL: url }).address
    const { passed, late, refused } = await sendUntilRefused(address, 2_000)
    expect(passed.length).toBeGreaterThanOrEqual(100 - late)
    expect(passed[0]?.headers.get('x-ratelimit-limit')).toBe('100')
    const left = Number(passed[0]?.headers.get('x-ratelimit-remaining'))
    expect([left <= 99, left >= 99 - late]).toEqual([true, true])
    expect(await passed[0]?.json()).toEqual({ hello: 'world' })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0')
    expect(await refused.json()).toEqual({ error: 'Too many requests' })
  })

  it.skipIf(url === undefined)('script.js loads rate_limit.lua, and calls it until it refuses', async () => {
    const { code, text } = await start('quick-start/script.js', { REDIS_URL: url }).ended
    expect([code, text]).toEqual([0, 'allowed, 1 left\nallowed, 0 left\ndenied, again in 2 s\n'])
  })

  it('says in one line that there is no Redis', async () => {
    const { code, text } = await start('quick-start/server.js', { REDIS_URL: 'redis://127.0.0.1:1' }).ended
    expect([code, text]).toEqual([1, expect.stringMatching(/^no Redis at 127\.0\.0\.1:1 \(.*ECONNREFUSED.*\): .*\n$/)])
  })
})

describe.each(['express', 'fastify', 'fetch', 'hono', 'koa', 'nest', 'node'])('examples/%s-adapter', (name) => {
  it('answers with headers, then 429 with Retry-After and a problem body', async () => {
    const { passed, refused } = await sendUntilRefused(await start(`${name}-adapter/server.js`).address, 2_000)
    expect(passed.length).toBeGreaterThanOrEqual(20)
    expect(await passed[0]?.json()).toEqual({ hello: 'world' })
    expect(passed[0]?.headers.get('ratelimit-limit')).toBe('20')
    expect(passed[0]?.headers.get('ratelimit-remaining')).toBe('19')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await refused.json()).toMatchObject({ status: 429, reason: 'quota', 'violated-policies': ['default'] })
  })
})
