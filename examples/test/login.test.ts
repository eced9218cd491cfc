import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)

describe('examples/login', () => {
  it('counts failed logins only, also those at once and those whose client has left', async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, '..', 'dist', 'login', 'main.js')])
    expect(stdout.split('\n')).toEqual([
      'the right password: 200, 3 failures left',
      'a wrong one: 401, 2 failures left',
      'the right password: 200, 2 failures left',
      'a wrong one: left, 1 failures left',
      'wrong ones at once: 401, 429, 429, 0 failures left',
      'the right password: 429',
      '',
    ])
  })
})
