import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import { folder, MAIN } from './run-bench.ts'

describe('npm run bench', () => {
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
