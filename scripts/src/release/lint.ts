import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Packed } from './pack.ts'
import type { Staged } from './stage.ts'

const ATTW = ['--profile', 'esm-only', '--no-definitely-typed', '--no-emoji', '--no-color']

/** What publint says against the folder of a package; an empty list if nothing. */
export function publint(root: string, { manifest, folder }: Staged): string[] {
  return lint(root, manifest.name, 'publint/src/cli.js', ['run', folder, '--strict', '--pack', 'false'])
}

/** What "are the types wrong" says against a tarball. A package without exports has no types. */
export function typesLint(root: string, { manifest, tarball }: Packed): string[] {
  if (manifest.exports === undefined) return []
  return lint(root, manifest.name, '@arethetypeswrong/cli/dist/index.js', [tarball, ...ATTW])
}

function lint(root: string, name: string, program: string, args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'node_modules', program), ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  return status === 0 ? [] : [`${name}: ${program.replace(/\/(?:src|dist)\/.*$/, '')}:\n${stdout}${stderr}`]
}
