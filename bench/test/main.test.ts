import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import { bench, folder, MAIN } from './run-bench.ts'

describe('npm run bench', () => {
  it('lists the suites and exits with 3 where it does not understand', async () => {
    const { code, out, err } = await bench(['seed-003', '--fast'])
    expect([code, out]).toEqual([3, ''])
    expect(err).toContain('  seed-003    ')
  })

  it('says in one line that there is no Redis and exits with 2', async () => {
    const { code, out, err } = await bench(['seed-003'], { SLUICE_REDIS_URL: 'redis://127.0.0.1:1' })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^no Redis to measure: the Redis of SLUICE_REDIS_URL does not answer: .*ECONNREFUSED.*\n$/)
  })

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
