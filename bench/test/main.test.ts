import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, inject, it, onTestFinished } from 'vitest'

const { redis: url } = inject('engines')
const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js')

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the built command; `npm test` builds before it tests. */
function bench(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env } }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err })
    })
  })
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

describe('npm run bench', () => {
  it.each([
    [[]],
    [['seed-000']],
    [['seed-003', '--seconds', '0']],
    [['seed-003', '--fast']],
    [['seed-003', '--only', 'hot']],
    [['seed-003', '--gates']],
    [['embedded', '--only', 'hot,cold']],
    [['redis', '--only', 'service']],
    [['redis', '--gates']],
  ])('%j: lists the suites and exits with 3', async (args) => {
    const { code, out, err } = await bench(args)
    expect([code, out]).toEqual([3, ''])
    expect(err).toContain('  seed-003    ')
  })

  it('says in one line that there is no Redis and exits with 2', async () => {
    const { code, out, err } = await bench(['seed-003'], { SLUICE_REDIS_URL: 'redis://127.0.0.1:1' })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^no Redis to measure: the Redis of SLUICE_REDIS_URL does not answer: .*ECONNREFUSED.*\n$/)
  })

  it.skipIf(url === undefined)('measures, prints a table and writes the results', async () => {
    const json = join(folder(), 'results.json')
    const { code, out } = await bench(['seed-003', '--seconds', '0.2', '--json', json], { SLUICE_REDIS_URL: url })
    expect(code).toBe(0)
    expect(out.match(/^(?:Lua EVALSHA|multi-command|WATCH\/MULTI\/EXEC|Sluice) .*%$/gm)).toHaveLength(8)
    const results = JSON.parse(readFileSync(json, 'utf8')) as { speed: { contestant: string; rounds: number[] }[] }
    expect(results).toMatchObject({ suite: 'seed-003', seconds: 0.2, server: 'given', machine: { node: process.versions.node } })
    expect(results.speed.map(({ rounds }) => rounds.length)).toEqual([5, 5, 5, 5])
  })

  it('embedded: measures the parts that were asked for, each figure with its goal, its mark and its baseline', async () => {
    const json = join(folder(), 'results.json')
    const { code, out } = await bench(['embedded', '--only', 'hot,http,size', '--seconds', '0.1', '--json', json])
    expect(code).toBe(0)
    expect(out).toMatch(/^checkSync \[all allowed, burst 10\^7\] .* x +<= 2 .* Map [\d.,]+ [nu]s +0\.00 %$/m)
    expect(out).toMatch(/^default headers \[all allowed, burst 10\^7\] .* us +<= 3 .* bare [\d.]+ us$/m)
    const results = JSON.parse(readFileSync(json, 'utf8')) as { parts: Record<string, { readings: { mark: string }[] }> }
    expect(results).toMatchObject({ suite: 'embedded', seconds: 0.1, machine: { node: process.versions.node } })
    expect(Object.keys(results.parts)).toEqual(['hot', 'http', 'size'])
    const marks = Object.values(results.parts).flatMap(({ readings }) => readings.map(({ mark }) => mark))
    expect(marks).toHaveLength(8 + 3 + 2)
    // How fast it is depends on the machine; that it is right does not.
    expect(marks).not.toContain('wrong')
    expect(marks).not.toContain('absent')
  }, 90_000)

  it.skipIf('missing' in findRedis())(
    'redis: measures the parts that were asked for on a server of its own, names what is missing, and leaves nothing behind',
    async () => {
      const temporary = folder()
      const json = join(temporary, 'results', 'redis.json')
      const env = { SLUICE_REDIS_URL: 'redis://127.0.0.1:1', TMPDIR: temporary }
      const { code, out, err } = await bench(['redis', '--only', 'denied,redis-time,cluster', '--seconds', '0.1', '--json', json], env)
      // What went wrong is in the message then.
      expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:redis-time|denied|cluster|over-grant).*\n)+$/)])
      expect(out).toMatch(/^plain \[denied flood\] .* x .* Lua EVALSHA [\d.]+ us +0\.00 %$/m)
      expect(out).toMatch(/^16 different keys in a call \[against one EVALSHA each\] .* x +<= 0\.78 /m)
      expect(out).toMatch(/^plain, 1 caller +\d\.\d{3} calls /m)
      const results = JSON.parse(readFileSync(json, 'utf8')) as { parts: Record<string, { readings: { mark: string }[] }> }
      expect(results).toMatchObject({ suite: 'redis', seconds: 0.1, machine: { node: process.versions.node } })
      expect(Object.keys(results.parts)).toEqual(['redis-time', 'denied', 'cluster'])
      const marks = Object.values(results.parts).flatMap(({ readings }) => readings.map(({ mark }) => mark))
      expect(marks).toHaveLength(5 + 5 + 6)
      expect(marks).not.toContain('wrong')
      expect(readdirSync(temporary)).toEqual(['results'])
    },
    90_000,
  )

  it.skipIf('missing' in findRedis())('stops its private server when it is interrupted', async () => {
    const temporary = folder()
    const env = { ...process.env, SLUICE_REDIS_URL: '', TMPDIR: temporary }
    const child = spawn(process.execPath, [MAIN, 'seed-003'], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Its first line says that the server is up.
    child.stderr.once('data', () => {
      expect(readdirSync(temporary)).toHaveLength(1)
      child.kill('SIGTERM')
    })
    expect(await ended).toBe(143)
    expect(readdirSync(temporary)).toEqual([])
  })
})
