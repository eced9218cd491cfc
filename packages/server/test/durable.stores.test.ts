import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runBuilt as run, serveBuilt as serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-durable-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const policyFile = policyFiles()
const policy = policyFile(`
version: 1
failure: { deadline: 20s }
rules:
  - { name: bucket, key: [header:x-key], rate: 1/day, burst: 10 }
  - { name: window, key: [header:x-key], algorithm: fixed-window, limit: 10, window: 10d }
  - { name: counter, key: [header:x-key], algorithm: sliding-window-counter, limit: 10, window: 10d }
  - { name: log, key: [header:x-key], algorithm: sliding-window-log, limit: 10, window: 10d }
`)

describe('a service over a folder', () => {
  it('goes on where it was after SIGTERM and SIGKILL, again and again, with every algorithm', async () => {
    const left: unknown[] = []
    for (let life = 0; life < 3; life += 1) {
      const running = await serve([policy, '--store', `pglite:${join(folder, 'data')}`])
      const check = async (key: string): Promise<{ outcome: string; limits: { remaining: number }[] }> => {
        const response = await fetch(`${running.url}/v1/check`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ method: 'GET', path: '/', headers: { 'x-key': key }, ip: '192.0.2.1' }),
        })
        return (await response.json()) as { outcome: string; limits: { remaining: number }[] }
      }
      for (let turn = 0; turn < 2; turn += 1) left.push((await check('k')).limits.map(({ remaining }) => remaining))
      await running.stop(life === 0 ? 'SIGTERM' : 'SIGKILL')
    }
    expect(left).toEqual([9, 8, 7, 6, 5, 4].map((remaining) => [remaining, remaining, remaining, remaining]))
  })

  it('makes its tables by migrate, and on request the function of the article', async () => {
    const url = `pglite:${join(folder, 'made')}`
    expect(await run(['migrate', '--store', url])).toMatchObject({ code: 0, stdout: `${url} is up to date\n`, stderr: '' })
    const { code, stdout } = await run(['migrate', '--store', url, '--compat-function', '--json'])
    expect([code, JSON.parse(stdout)]).toEqual([0, { store: url, compatFunction: true, pruned: false }])
  })

  it.each([
    [[], 'migrate: --store URL is missing: postgres://... or pglite:DIR'],
    [['--store', 'memory:'], 'migrate: memory: has no tables; expected postgres://... or pglite:DIR'],
  ])('migrate %j: exit 3', async (args, why) => {
    expect(await run(['migrate', ...args])).toMatchObject({ code: 3, stdout: '', stderr: `sluice: ${why}\n` })
  })
})
