import { type Engine, findRedis, startRedis } from '@sluice/scripts/engines'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Running, serveBuilt as serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const redis = inject('engines').redis === undefined ? { missing: 'no engine' } : findRedis()
const DEADLINE_MS = 50
/** In milliseconds, how much later an answer may come, in addition to how late healthy answers were at the same time. */
const GRACE_MS = 5
const policyFile = policyFiles()
/** What /readyz says about a Redis that is away. It uses none of the client library's own words. */
const IN_WORDS = /^(?:no answer in time|the connection to redis:\S+ (?:is not open|was closed)|redis:\S+ sent nothing|nothing listens at)/
const OPEN = 'version: 1\nfailure: { policy: allow, deadline: 500ms }\nrules:\n  - { name: a, key: [], rate: 1/h, burst: 1 }\n'

interface Timed {
  readonly answer: Response
  readonly ms: number
}

async function timed(url: string, init?: RequestInit): Promise<Timed> {
  const started = performance.now()
  const answer = await fetch(url, init)
  return { answer, ms: performance.now() - started }
}

/**
 * Requests /livez, which needs no store, again and again until it is stopped. Returns the longest time of a request, which shows how busy
 * the machine is.
 */
function healthy(url: string): () => Promise<number> {
  const state = { running: true, longest: 0 }
  const done = (async () => {
    while (state.running) {
      const { answer, ms } = await timed(`${url}/livez`)
      await answer.text()
      state.longest = Math.max(state.longest, ms)
    }
  })()
  return async () => {
    state.running = false
    await done
    return state.longest
  }
}

describe.skipIf('missing' in redis)('a service whose Redis is stopped', () => {
  let engine: Engine
  let service: Running | undefined
  const started = async (args: readonly string[]): Promise<string> => {
    service = await serve([...args, '--demo', '--store', engine.url])
    return service.url
  }
  beforeEach(async () => {
    engine = await startRedis('path' in redis ? redis.path : '')
  })
  afterEach(async () => {
    engine.signal('SIGCONT')
    await service?.stop()
    await engine.stop()
  })

  it('answers 503 by the deadline where the policy is closed, and 200 soon after it is back', async () => {
    const url = await started([])
    await expect.poll(async () => (await fetch(`${url}/api/data`)).status).toBe(200)
    engine.signal('SIGSTOP')
    const longest = healthy(url)
    const refused: Timed[] = []
    for (let sent = 0; sent < 5; sent += 1) refused.push(await timed(`${url}/api/data`))
    const margin = 2 * (await longest()) + GRACE_MS
    for (const { answer, ms } of refused) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'application/problem+json'])
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(answer.headers.has('ratelimit')).toBe(false)
      expect(((await answer.json()) as { type: string }).type).toMatch(/#temporary-reduced-capacity$/)
      expect(ms).toBeLessThanOrEqual(DEADLINE_MS + margin)
    }
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', store: expect.stringMatching(IN_WORDS) }])
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    const sent = await fetch(`${url}/v1/check`, { method: 'POST', body: '{"path":"/api/data"}' })
    expect([sent.status, await sent.json()]).toEqual([
      200,
      expect.objectContaining({
        outcome: 'undecided',
        allowed: false,
        limits: [],
        degraded: expect.objectContaining({ kind: expect.stringMatching(/^(timeout|unavailable|connection)$/) }),
      }),
    ])
    const still = healthy(url)
    const resumed = performance.now()
    engine.signal('SIGCONT')
    while ((await fetch(`${url}/api/data`)).status !== 200) expect(performance.now() - resumed).toBeLessThan(20_000)
    const recovery = performance.now() - resumed
    expect(recovery).toBeLessThanOrEqual(1_000 + (await still()))
    await expect.poll(async () => (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready' })
  })

  it('O2: writes one line when it is lost and one when it is back, and so for the breaker', async () => {
    const url = await started([policyFile(OPEN), '--log-format', 'json'])
    await expect.poll(async () => (await fetch(`${url}/api/data`)).status).toBe(429)
    engine.signal('SIGSTOP')
    const lines = (): Record<string, unknown>[] =>
      (service?.output() ?? '')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    const events = async (): Promise<string[]> => {
      await (await fetch(`${url}/api/data`)).text()
      return lines().map(({ event }) => String(event))
    }
    await expect.poll(events, { timeout: 20_000 }).toEqual(expect.arrayContaining(['store-lost', 'breaker-open']))
    for (let nth = 0; nth < 50; nth += 1) await events()
    engine.signal('SIGCONT')
    await expect.poll(events, { timeout: 20_000 }).toEqual(expect.arrayContaining(['store-back', 'breaker-closed']))
    expect(new Set(await events())).toEqual(new Set(['breaker-closed', 'breaker-open', 'serving', 'store-back', 'store-lost']))
    expect(lines()).toHaveLength(5)
    const [lost, back] = ['store-lost', 'store-back'].map((name) => lines().find(({ event }) => event === name))
    expect(lost).toMatchObject({ level: 'warn', store: engine.url, kind: expect.any(String), reason: expect.stringMatching(IN_WORDS) })
    expect(back).toMatchObject({ level: 'info', store: engine.url, afterMs: expect.any(Number), calls: expect.any(Number) })
    expect(back?.['calls']).toBeGreaterThanOrEqual(50)
  })

  it('lets requests pass where the policy is open, and reports no quota', async () => {
    const url = await started([policyFile(OPEN)])
    expect((await fetch(`${url}/api/data`)).headers.has('ratelimit')).toBe(true)
    expect((await fetch(`${url}/api/data`)).status).toBe(429)
    engine.signal('SIGSTOP')
    // The denial is remembered, and a second later nobody knows.
    await expect.poll(async () => (await fetch(`${url}/api/data`)).status, { timeout: 10_000 }).toBe(200)
    for (let sent = 0; sent < 3; sent += 1) {
      const answer = await fetch(`${url}/api/data`)
      expect(answer.status).toBe(200)
      expect([...answer.headers.keys()].filter((name) => /ratelimit|retry-after/.test(name))).toEqual([])
    }
    const ready = await fetch(`${url}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'degraded', store: expect.stringMatching(IN_WORDS) }])
    const sent = await fetch(`${url}/v1/check?status=http`, { method: 'POST', body: '{"path":"/api/data"}' })
    expect([sent.status, await sent.json()]).toEqual([200, expect.objectContaining({ outcome: 'undecided', allowed: true })])
    engine.signal('SIGCONT')
    await expect.poll(async () => (await fetch(`${url}/api/data`)).status, { timeout: 10_000 }).toBe(429)
  })
})
