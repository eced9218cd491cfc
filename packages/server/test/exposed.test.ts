import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run, serve } from './command.ts'

const TOKEN = 'a-token-of-some-length'

describe('an address that others can reach', () => {
  it.each([
    ['', 'expected one line of 16 to 4096 printable characters'],
    ['short', 'expected one line of 16 to 4096 printable characters'],
    ['two lines of\ntext that is long', 'expected one line of 16 to 4096 printable characters'],
  ])('is not served with the token %j', async (token, line) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-token-'))
    writeFileSync(join(folder, 'token'), token)
    const ran = await run(['serve', '--demo', '--listen', '0.0.0.0:0', '--admin-token-file', join(folder, 'token')])
    expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining(line)])
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(['0.0.0.0', '[::]'])('is served with a good one: %s', async (host) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-token-'))
    writeFileSync(join(folder, 'token'), TOKEN)
    const service = await serve(['--demo', '--listen', `${host}:0`, '--admin-token-file', join(folder, 'token')])
    const { port } = new URL(service.url)
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200)
    expect(await service.stop()).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  })
})
