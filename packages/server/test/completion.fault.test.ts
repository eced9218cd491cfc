import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBinary } from '@sluice/scripts/engines'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERBS } from '../src/cli/command.ts'
import { flagsOf } from '../src/cli/flags.ts'
import { run } from './command.ts'

const shells = { bash: findBinary('bash', [], 'bash'), zsh: findBinary('zsh', [], 'zsh'), fish: findBinary('fish', [], 'fish') }
const folder = mkdtempSync(join(tmpdir(), 'sluice-completion-'))
beforeAll(async () => {
  writeFileSync(join(folder, 'policy.yaml'), '')
  for (const shell of Object.keys(shells)) writeFileSync(join(folder, shell), (await run(['completion', shell])).stdout)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pathOf = (shell: keyof typeof shells): string => {
  const found = shells[shell]
  return 'path' in found ? found.path : ''
}

function output(program: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
  })
  expect([status, stderr]).toEqual([0, ''])
  return stdout
}

/** Returns what bash offers when the last of these words is being typed. */
function bash(...words: readonly string[]): string[] {
  const line = words.map((word) => `'${word}'`).join(' ')
  const script = `. ./bash; COMP_WORDS=(sluice ${line}); COMP_CWORD=${words.length}; _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`
  return output(pathOf('bash'), ['--norc', '-c', script])
    .split('\n')
    .filter((text) => text !== '')
}

function fish(line: string): string[] {
  return output(pathOf('fish'), ['--no-config', '-c', `source ./fish; complete -C ${JSON.stringify(line)}`])
    .split('\n')
    .flatMap((text) => (text === '' ? [] : [text.split('\t')[0] as string]))
}

const NAMES = VERBS.map(({ name }) => name)

describe.skipIf('missing' in shells.bash)('completion in bash', () => {
  it('offers verbs, then the flags of the verb, then files', () => {
    expect(bash('')).toEqual([...NAMES, 'help', '--help', '--version'])
    expect(bash('ver')).toEqual(['verify'])
    for (const verb of VERBS) expect(bash(verb.name, '--')).toEqual([...flagsOf(verb).map(({ name }) => `--${name}`), '--help'])
    expect(bash('check', 'pol')).toEqual(['policy.yaml'])
    expect(bash('serve', '--store-file', 'pol')).toEqual(['policy.yaml'])
    expect(bash('serve', '--store', 'pol')).toEqual([])
    expect(bash('verify', 'pol')).toEqual([])
    expect(bash('completion', 'z')).toEqual(['zsh'])
    expect(bash('regions', '')).toEqual(expect.arrayContaining(['status', 'add', 'adopt', 'drain', 'remove']))
    expect(bash('help', 'mig')).toEqual(['migrate'])
  })
})

describe.skipIf('missing' in shells.zsh)('completion in zsh', () => {
  it('is a program that zsh reads, and offers every verb and flag', () => {
    output(pathOf('zsh'), ['-f', '-n', './zsh'])
    const loaded = output(pathOf('zsh'), ['-f', '-c', 'autoload -U compinit; compinit -D; . ./zsh; print -r -- $_comps[sluice]'])
    expect(loaded).toBe('_sluice\n')
    // Completion in zsh needs a terminal, so zsh starts a second zsh in a pseudo terminal. It types the line there, and reads until the
    // last offered word.
    const typed = (line: string, last: string): string =>
      output(pathOf('zsh'), [
        '-f',
        '-c',
        `zmodload zsh/zpty; zpty z ${pathOf('zsh')} -f -i
zpty -w z "stty cols 250 rows 200; autoload -U compinit; compinit -D; . ./zsh; PS1='REA''DY>'"
zpty -r z out '*READY>*'; zpty -w -n z $'${line}\t'; zpty -r z out '*${last}*'; print -r -- $out; zpty -d z`,
      ])
    const listed = typed('sluice ', 'verify')
    for (const name of NAMES) expect(listed).toContain(name)
    const flags = typed('sluice serve --', '--workers')
    for (const { name } of flagsOf(VERBS[0] ?? { flags: {} })) expect(flags).toContain(`--${name}`)
  })
})

describe.skipIf('missing' in shells.fish)('completion in fish', () => {
  it('offers verbs, then the flags of the verb, then files', () => {
    expect(fish('sluice ').toSorted()).toEqual(NAMES.toSorted())
    for (const verb of VERBS) {
      const offered = fish(`sluice ${verb.name} --`).filter((text) => text.startsWith('--'))
      expect(offered.toSorted()).toEqual(
        flagsOf(verb)
          .map(({ name }) => `--${name}`)
          .toSorted(),
      )
    }
    expect(fish('sluice check pol')).toEqual(['policy.yaml'])
    expect(fish('sluice serve --store-file pol')).toEqual(['policy.yaml'])
    expect(fish('sluice completion z')).toEqual(['zsh'])
  })
})

describe('completion', () => {
  it('refuses another shell', async () => {
    const ran = await run(['completion', 'csh'])
    expect(ran).toEqual({
      code: 3,
      stdout: '',
      stderr: 'sluice: completion: "csh" is not a shell that it knows: expected bash, zsh, fish\n',
    })
  })
})
