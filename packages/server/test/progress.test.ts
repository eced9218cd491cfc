import { describe, expect, it } from 'vitest'
import type { Io } from '../src/cli/io.ts'
import { progressOf } from '../src/cli/progress.ts'
import type { ParsedArguments } from '../src/cli/verb.ts'
import { run } from './command.ts'

/** What is written to stderr if three texts are shown right after each other, and then the progress ends. */
function shown(terminal: boolean, ...switches: readonly string[]): string {
  let written = ''
  const io: Io = { out: () => {}, err: (text) => (written += text), terminal, env: {}, onSignal: () => () => {} }
  const args = { switch: (name: string) => switches.includes(name) } as ParsedArguments
  const progress = progressOf('audit', args, io)
  for (const text of ['1 of 3', '2 of 3', '3 of 3']) progress.show(text)
  progress.end()
  progress.show('late')
  return written
}

describe('O6: progress', () => {
  it.each([
    [false, [], ''],
    [false, ['json'], ''],
    [true, ['json'], ''],
    [true, [], '\r\u001B[Kaudit: 1 of 3\r\u001B[K'],
    [false, ['progress'], 'sluice: audit: 1 of 3\n'],
    [false, ['progress', 'json'], 'sluice: audit: 1 of 3\n'],
  ] as const)('on a terminal: %s, with %j', (terminal, switches, text) => {
    expect(shown(terminal, ...switches)).toBe(text)
  })

  it('of verify is on stderr alone, and its result stays JSON', async () => {
    const args = ['verify', '--store', 'memory:', '--seconds', '1', '--json']
    const [quiet, loud] = await Promise.all([run(args), run([...args, '--progress'])])
    expect([quiet.code, quiet.stderr]).toEqual([0, ''])
    expect(loud.stderr).toMatch(/^sluice: verify: [^\n]+\n(?:sluice: verify: [^\n]+\n)*$/)
    expect(JSON.parse(loud.stdout)).toMatchObject({ store: 'memory:', ok: true })
  })
})
