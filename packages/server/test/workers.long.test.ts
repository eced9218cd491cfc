import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { MAIN, run, type RunningProcess, serveBuilt as serve, SYSTEM } from './command.ts'
import { childrenOf, isAlive } from './children-of.ts'
import { policyFiles } from './policy-file.ts'

/** Processes are read from /proc; elsewhere these tests are skipped. */
const redis = process.platform === 'linux' ? inject('engines').redis : undefined
const policyFile = policyFiles()
/** A long deadline, because a busy machine may be late. These tests are not about lateness. */
const UNHURRIED = 'failure: { deadline: 20s }\n'
const DECISIONS = /sluice_decision_duration_seconds_count\{source="(?:store|denied-cache)"\}/
const POLICY = `version: 1\n${UNHURRIED}rules:\n  - { name: workers-${process.pid}, key: [], rate: 1/h, burst: 20 }\n`

describe.skipIf(redis === undefined)('serve --workers 3', () => {
  let service: RunningProcess
  const metric = async (name: RegExp): Promise<number> => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return [...text.matchAll(new RegExp(`^${name.source} (\\d+)$`, 'gm'))].reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const readiness = async (): Promise<unknown> => {
    const answer = await fetch(`${service.url}/readyz`)
    return [answer.status, await answer.json()]
  }
  /** The counts of allowed and refused requests in the first event that the page gets. */
  const pageCounts = async (): Promise<number[]> => {
    const { body } = await fetch(`${service.url}/v1/events`)
    const reader = (body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!/^data: (.*)$/m.test(text) || !text.endsWith('\n\n')) text += Buffer.from((await reader.read()).value ?? []).toString()
    await reader.cancel()
    const event = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '') as { readonly [kind: string]: readonly number[] }
    return ['allowed', 'refused'].map((kind) => (event[kind] ?? []).reduce((sum, count) => sum + count, 0))
  }
  const allReady = [200, { status: 'ready', workers: { serving: 3, wanted: 3 } }]

  beforeAll(async () => {
    service = await serve(['--demo', policyFile(POLICY), '--workers', '3', '--store', redis as string])
    await vi.waitFor(async () => expect(await readiness()).toEqual(allReady), { timeout: 20_000, interval: 50 })
  })
  afterAll(async () => {
    const workers = childrenOf(service.pid)
    expect(await service.stop()).toBe(0)
    expect(workers).toHaveLength(3)
    expect(workers.filter(isAlive)).toEqual([])
    expect(service.output().match(/on http:/g)).toHaveLength(1)
  })

  it('counts one limit together, and reports the sum of all metrics', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await fetch(`${service.url}/api/data`, { headers: { connection: 'close' } })).status),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
    const results = (): Promise<number[]> =>
      Promise.all([metric(/sluice_requests_total\{.*result="allowed"\}/), metric(/sluice_requests_total\{.*result="denied"\}/)])
    // A worker that takes longer than a second for its part of the sum is not in it.
    await expect.poll(results).toEqual([20, 10])
    await expect.poll(() => metric(DECISIONS)).toBe(30)
    expect(await metric(/sluice_workers/)).toBe(3)
    // The page shows the same, whichever worker its connection reaches.
    await vi.waitFor(async () => expect(await pageCounts()).toEqual([20, 10]), { timeout: 20_000, interval: 200 })
    expect((await fetch(`${service.url}/metrics`, { method: 'HEAD' })).status).toBe(200)
  })

  it('replaces a worker that dies, answers meanwhile, and forgets no count', async () => {
    const [victim] = childrenOf(service.pid)
    process.kill(victim as number, 'SIGKILL')
    await expect.poll(() => childrenOf(service.pid).includes(victim as number)).toBe(false)
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
    await expect.poll(readiness, { timeout: 20_000 }).toEqual(allReady)
    expect(service.output()).toMatch(new RegExp(` error worker ${victim} ended by SIGKILL; another begins in 0\\.1 s$`, 'm'))
    expect(await metric(/sluice_worker_restarts_total/)).toBe(1)
    await expect.poll(() => metric(DECISIONS)).toBe(30)
  })

  it('takes SIGHUP to all of them, and none ends by it', async () => {
    const before = childrenOf(service.pid)
    process.kill(service.pid, 'SIGHUP')
    await expect.poll(readiness).toEqual(allReady)
    expect(childrenOf(service.pid)).toEqual(before)
  })
})

describe.skipIf(redis === undefined)('serve --workers 2', () => {
  it('does not end by a SIGHUP before its first worker serves', async () => {
    const args = [MAIN, 'serve', '--demo', '--workers', '2', '--store', redis as string, '--log-format', 'text']
    const child = spawn(process.execPath, args, { env: { ...SYSTEM, PORT: '0' }, stdio: ['ignore', 'ignore', 'pipe'] })
    let lines = ''
    child.stderr.on('data', (data: Buffer) => (lines += data.toString()))
    const ended = once(child, 'close')
    await expect.poll(() => childrenOf(child.pid as number).length, { interval: 5 }).toBeGreaterThanOrEqual(1)
    child.kill('SIGHUP')
    await Promise.race([ended, vi.waitFor(() => expect(lines).toContain(' on http://'), { timeout: 20_000 })])
    child.kill()
    expect([await ended, lines]).toEqual([[0, null], expect.stringContaining(' on http://')])
  })

  it('serves on when the reader of its lines has ended', async () => {
    const token = policyFile('a-token-of-administration')
    const service = await serve(['--demo', '--workers', '2', '--store', redis as string, '--admin-token-file', token])
    service.endReader()
    const headers = { authorization: 'Bearer a-token-of-administration', connection: 'close' }
    // The primary writes one line for each refusal.
    for (let put = 0; put < 4; put += 1)
      expect((await fetch(`${service.url}/v1/policy`, { method: 'PUT', body: 'rules: 7', headers })).status).toBe(400)
    expect(await service.stop()).toBe(0)
  })
})

describe.skipIf(redis === undefined)('serve --workers 2 with a bundle that has expired', () => {
  const TOKEN = { authorization: 'Bearer a-token-of-administration' }
  const SECONDS = 8
  const bundle = (burst: number, expires: Date): string => {
    const limit = { algorithm: 'token_bucket', algorithm_config: { rps: 1, burst } }
    const rules = [{ name: `expired-${process.pid}`, limit_keys: ['ip:address'], ...limit }]
    const policies = [{ id: 'p', spec: { selector: { pathPrefix: '/' }, rules } }]
    return JSON.stringify({ bundle_version: 1, expires_at: `${expires.toISOString().slice(0, 19)}Z`, policies })
  }
  const soon = (): Date => new Date(Date.now() + SECONDS * 1_000)
  const serving = async (service: RunningProcess): Promise<unknown> =>
    ((await (await fetch(`${service.url}/readyz`)).json()) as { workers: { serving: number } }).workers.serving
  /** The burst in the answers to several connections, so of both workers. */
  const bursts = async (service: RunningProcess): Promise<unknown[]> => {
    const call = { method: 'POST', body: '{"path":"/","ip":"203.0.113.9"}', headers: { connection: 'close' } }
    const answers = await Promise.all(Array.from({ length: 12 }, () => fetch(`${service.url}/v1/check`, call)))
    const limits = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { limits: { limit: number }[] }).limits))
    return [...new Set(limits.map(([first]) => first?.limit))]
  }
  const replaceAll = async (service: RunningProcess): Promise<void> => {
    for (const worker of childrenOf(service.pid)) {
      process.kill(worker, 'SIGKILL')
      await expect.poll(() => childrenOf(service.pid).includes(worker)).toBe(false)
      await expect.poll(() => serving(service), { timeout: 20_000 }).toBe(2)
    }
  }

  it.each(['file', 'PUT /v1/policy'])('by %s: a worker that replaces another goes on with it', async (way) => {
    const file = policyFile(bundle(1, new Date(Date.now() + 3_600_000)))
    const token = policyFile('a-token-of-administration')
    const service = await serve([file, '--workers', '2', '--store', redis as string, '--admin-token-file', token])
    onTestFinished(async () => void (await service.stop()))
    await expect.poll(() => serving(service), { timeout: 20_000 }).toBe(2)
    const expires = soon()
    if (way === 'file') writeFileSync(file, bundle(7, expires))
    else {
      const headers = { ...TOKEN, 'content-type': 'application/json' }
      expect((await fetch(`${service.url}/v1/policy`, { method: 'PUT', body: bundle(7, expires), headers })).status).toBe(200)
    }
    await expect.poll(() => bursts(service)).toEqual([7])
    await setTimeout(expires.getTime() + 100 - Date.now())
    await replaceAll(service)
    expect(await bursts(service)).toEqual([7])
    expect(service.output()).not.toContain('the bundle has expired')
  })
})

describe('serve --workers refuses in one line', () => {
  it.each([
    ['memory:', []],
    ['memory:', ['--store', 'memory:']],
    ['pglite:', ['--store', 'pglite:']],
  ])('the store %s, which they would not share', async (name, store) => {
    const ran = await run(['serve', '--demo', '--workers', '2', ...store], { PORT: '0' })
    const why = `each of them would have limits of its own with the store ${name}, 2 times as much together`
    const line = `sluice: serve: --workers 2: ${why}; use a store that they share (redis://, rediss:// or postgres://), or one worker\n`
    expect(ran).toEqual({ code: 3, stdout: '', stderr: line })
  })

  it.each([
    [['--workers', '0'], '--workers is "0": expected a whole number from 1 to 256'],
    [['--workers', 'many'], '--workers is "many": expected a whole number from 1 to 256'],
  ])('%j', async (args, line) => {
    const ran = await run(['serve', '--demo', ...args], { PORT: '0' })
    expect(ran).toEqual({ code: 3, stdout: '', stderr: `sluice: ${line}\n` })
  })

  it('nothing at one worker, which is no group', async () => {
    const service = await serve(['--demo', '--workers', '1'])
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ status: 'ready' })
    expect(await service.stop()).toBe(0)
  })
})
