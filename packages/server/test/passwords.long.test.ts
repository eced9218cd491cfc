import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { withoutLogins } from '../src/cli/secrets.ts'
import { hasPassword } from '../src/stores/store-name.ts'
import { childrenOf } from './children-of.ts'
import { run, serveBuilt } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-passwords-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** Nobody listens there, so the service starts without its store. */
const STORE = 'redis://u:tops3cret@127.0.0.1:1'

/** Returns the command lines of processes, as `ps` shows them to every user of the machine. */
function commandLines(pids: readonly number[]): string {
  return spawnSync('ps', ['-ww', '-o', 'args=', '-p', pids.join(',')], { encoding: 'utf8' }).stdout
}

describe('O5: a password never stands in the list of processes', () => {
  it.each([
    ['by --store', ['--store', STORE], {}],
    ['by --store=', [`--store=${STORE}`], {}],
    ['by the environment', [], { SLUICE_STORE: STORE }],
    ['by a file', ['--store-file', join(folder, 'store')], {}],
  ])('%s', async (_by, args, env) => {
    writeFileSync(join(folder, 'store'), STORE)
    const service = await serveBuilt(['--demo', '--workers', '2', ...args], env)
    const lines = commandLines([service.pid, ...childrenOf(service.pid)])
    const [output, metrics] = [service.output(), await fetch(`${service.url}/metrics`)]
    expect(await service.stop()).toBe(0)
    expect(metrics.status).toBe(200)
    expect(lines.trim().split('\n').length).toBeGreaterThan(1)
    expect(lines).not.toContain('tops3cret')
    expect(output).toContain('store redis://***@127.0.0.1:1')
    expect(output).not.toContain('tops3cret')
    expect(output.includes('may be read in lists of processes')).toBe(/^--store(?:=|$)/.test(args[0] ?? ''))
  })
})

describe('a password in an argument', () => {
  it('gets a warning, on every verb with a store', async () => {
    const verbs = [['verify'], ['migrate'], ['check', 'none.yaml'], ['inspect', 'a', '--policy', 'none.yaml']]
    for (const verb of verbs) {
      const { stderr } = await run([...verb, '--store', STORE])
      expect(stderr).toMatch(/^sluice: warning: the password in --store redis:\/\/\*\*\*@127\.0\.0\.1:1 may be read /)
      expect(stderr).not.toContain('tops3cret')
    }
    expect((await run(['verify'], { SLUICE_STORE: STORE })).stderr).toMatch(/^sluice: store [^\n]*\n$/)
  })

  it.each([
    ['redis://u:p@h', true],
    ['redis://:p@h', true],
    ['redis://u@h', false],
    ['redis://h:6379/0', false],
    ['rediss://h?ca=./ca.pem', false],
    ['postgres://h/db?password=x', true],
    ['memory:', false],
    ['pglite:./a@b', false],
  ])('%s has one: %s', (url, has) => {
    expect(hasPassword(url)).toBe(has)
  })

  it.each([
    [['verify', STORE], 'unexpected "redis://***@127.0.0.1:1"'],
    [['serve', STORE], 'policy redis://***@127.0.0.1:1 cannot be read'],
    [[STORE], 'unknown command redis://***@127.0.0.1:1'],
    [['serve', '--demo', '--listen', STORE], '--listen is "redis://***@127.0.0.1:1"'],
  ])('given in the wrong place is not printed: %j', async (args, line) => {
    const { stderr } = await run(args)
    expect(stderr).toContain(line)
    expect(stderr).not.toContain('tops3cret')
  })

  it.each([
    ['see redis://u:p@ss@h/0 and postgres://:x@y', 'see redis://***@h/0 and postgres://***@y'],
    ['see redis://secret@h and mysql://u:12/ss@h', 'see redis://***@h and mysql://***@h'],
    ['see https://h/@scope/a, https://secret@h and file:///a/@scope/b', 'see https://h/@scope/a, https://***@h and file:///a/@scope/b'],
    ['http://h:80/a and b@c', 'http://h:80/a and b@c'],
    ['"http://u:a/b@h"', '"http://***@h"'],
  ])('%j is shown as %j', (text, shown) => {
    expect(withoutLogins(text)).toBe(shown)
  })
})
