import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { findRedis, startRedis } from '@sluice/scripts/engines'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { serveBuilt as serve } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { exchange } from './raw.ts'

const policyFile = policyFiles()
const OPEN = 'version: 1\nrules:\n  - { name: a, key: [header:x], rate: 100/s, burst: 100 }\n'

/**
 * Resolves once requests that were sent before are being answered. The service takes connections in order, so it is enough that later ones
 * were answered.
 */
async function taken(url: string): Promise<void> {
  for (let sent = 0; sent < 3; sent += 1) await exchange(url, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
}

/** In milliseconds: the service ends within this time, if the machine does not stand still meanwhile. */
const MAX_MS = 5_000
const TICK_MS = 10
const PAUSE_MS = 50

/** Measures from now on. Returns the milliseconds that passed, without the pauses in which this process could not run. */
function stopwatch(): () => number {
  const started = performance.now()
  let [last, paused] = [started, 0]
  const tick = (): void => {
    const now = performance.now()
    if (now - last > PAUSE_MS) paused += now - last - TICK_MS
    last = now
  }
  const ticking = setInterval(tick, TICK_MS)
  return () => {
    clearInterval(ticking)
    tick()
    return last - started - paused
  }
}

describe('a signal', () => {
  it('SIGTERM answers whatever had been sent before it', async () => {
    const service = await serve(['--demo'])
    const answers = Array.from({ length: 40 }, () => exchange(service.url, 'GET /api/data HTTP/1.1\r\nHost: localhost\r\n\r\n'))
    await taken(service.url)
    expect(await service.stop()).toBe(0)
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('SIGTERM drops no caller that never pauses, on new connections or on kept ones', async () => {
    const service = await serve(['--demo'])
    const [kept, { port }] = [new Agent({ keepAlive: true, maxSockets: 8 }), new URL(service.url)]
    const [answers, failures] = [[] as number[], new Set<string | undefined>()]
    const send = (agent: Agent | false): Promise<boolean> =>
      new Promise((resolve) => {
        const pending = request({ host: '127.0.0.1', port, path: '/v1/check', method: 'POST', agent }, (answer) => {
          answers.push(answer.statusCode ?? 0)
          answer.resume().on('end', () => resolve(true))
        })
        pending.on('error', ({ code }: NodeJS.ErrnoException) => resolve(failures.add(code) === undefined))
        pending.end('{"path":"/"}')
      })
    // Each caller sends until the port is closed. A caller that got a connection must get an answer.
    const callers = Array.from({ length: 16 }, async (_, index) => {
      while (await send(index < 8 ? kept : false));
    })
    await expect.poll(() => answers.length, { timeout: 10_000 }).toBeGreaterThan(200)
    expect(await service.stop()).toBe(0)
    await Promise.all(callers)
    kept.destroy()
    expect([...failures]).toEqual(['ECONNREFUSED'])
    expect(new Set(answers)).toEqual(new Set([200]))
  })

  it('SIGTERM answers what was accepted, and is not held up by idle connections, half-sent requests or open reservations', async () => {
    const service = await serve([policyFile(OPEN)])
    const { port, hostname } = new URL(service.url)
    const reserved = await fetch(`${service.url}/v1/reserve`, { method: 'POST', body: '{"key":"k","limit":"a","holdMs":60000}' })
    expect(await reserved.json()).toMatchObject({ outcome: 'allowed' })
    const body = '{"key":"k","limit":"a"}'
    const head = `POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`
    const opened = Array.from({ length: 24 }, (_, index) => {
      const socket = connect(Number(port), hostname).on('error', () => {})
      let text = ''
      socket.on('data', (data) => (text += data.toString()))
      // Idle after an answer; half a body; half a head; nothing.
      socket.write([head + body, head + body.slice(0, 5), head.slice(0, 20), ''][index % 4] as string)
      return { socket, kind: index % 4, text: () => text, gone: once(socket, 'close') }
    })
    const of = (kind: number) => opened.filter((one) => one.kind === kind)
    await expect.poll(() => of(0).every(({ text }) => text().startsWith('HTTP/1.1 200 '))).toBe(true)
    await taken(service.url)
    const passed = stopwatch()
    const code = service.stop()
    await expect.poll(service.output).toContain('SIGTERM')
    // While the service stops, half of the bodies are sent to their end. The others never are.
    for (const { socket } of of(1).slice(3)) socket.write(body.slice(5))
    expect(await code).toBe(0)
    expect(passed()).toBeLessThan(MAX_MS)
    await Promise.all(opened.map(({ gone }) => gone))
    for (const { text } of of(1).slice(3)) expect(text()).toMatch(/^HTTP\/1\.1 200 /)
    for (const { text } of opened) expect(text()).not.toMatch(/HTTP\/1\.1 5/)
    for (const { text } of [...of(1).slice(0, 3), ...of(2), ...of(3)]) expect(text()).toBe('')
  })

  it('SIGTERM ends the listeners of events', async () => {
    const service = await serve(['--demo'])
    const events = await fetch(`${service.url}/v1/events`)
    const passed = stopwatch()
    const [code, text] = await Promise.all([service.stop(), events.text()])
    // If the first event, which is the present state, was sent before the signal, it is in the text too.
    expect([code, text]).toEqual([0, expect.stringMatching(/^retry: 1000\n\n(?:event: .*\n)?(?:data: .*\n\n)*$/)])
    expect(passed()).toBeLessThan(MAX_MS)
  })
})

const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()

describe.skipIf('missing' in redis)('an answer under way', () => {
  it('is finished after SIGTERM, though its store is stopped, and its connection closed', async () => {
    const engine = await startRedis('path' in redis ? redis.path : '')
    onTestFinished(engine.stop)
    const policy = 'version: 1\nfailure: { deadline: 1500ms, policy: deny }\nrules:\n  - { name: a, key: [], rate: 10/s, burst: 10 }\n'
    const service = await serve([policyFile(policy), '--demo', '--store', engine.url])
    expect((await fetch(`${service.url}/api/data`)).status).toBe(200)
    engine.signal('SIGSTOP')
    const answer = exchange(service.url, 'GET /api/data HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await taken(service.url)
    const passed = stopwatch()
    expect(await service.stop()).toBe(0)
    expect(passed()).toBeLessThan(MAX_MS)
    expect(await answer).toMatch(/^HTTP\/1\.1 503 (?=.*\r\nconnection: close\r\n).*temporary-reduced-capacity/is)
  })
})
