import { spawn } from 'node:child_process'
import { readdirSync, watch } from 'node:fs'
import { join } from 'node:path'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import { folder, MAIN } from './run-bench.ts'

describe('npm run bench', () => {
  it.skipIf('missing' in findRedis())('stops its private server when it is interrupted', async () => {
    const temporary = folder()
    const env = { ...process.env, SLUICE_REDIS_URL: '', TMPDIR: temporary }
    const child = spawn(process.execPath, [MAIN, 'seed-003', '--results', join(temporary, 'results')], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Its first line says that the server is up.
    child.stderr.once('data', () => {
      expect(readdirSync(temporary)).toHaveLength(2)
      child.kill('SIGTERM')
    })
    expect(await ended).toBe(143)
    expect(readdirSync(temporary)).toEqual(['results'])
  })
  it.skipIf('missing' in findRedis())('leaves no folder of a server that it was starting when it is interrupted', async () => {
    const temporary = folder()
    const env = { ...process.env, SLUICE_REDIS_URL: '', TMPDIR: temporary }
    const child = spawn(process.execPath, [MAIN, 'seed-003', '--results', join(temporary, 'results')], { env, stdio: 'ignore' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // The folder is made just before the server is started. It is reported again when it is removed.
    const watcher = watch(temporary, (_, name) => {
      if (name?.startsWith('sluice-redis-') && !child.killed) child.kill('SIGTERM')
    })
    expect(await ended).toBe(143)
    watcher.close()
    expect(readdirSync(temporary)).toEqual(['results'])
  })
})
