import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestOf, PACKAGES } from './stage.ts'

/** The version of the library, and a problem for each manifest or lock entry that has another version. */
export function versionOf(root: string): { readonly version: string; readonly problems: readonly string[] } {
  const [library, server] = PACKAGES.map((from) => manifestOf(root, from)) as [ReturnType<typeof manifestOf>, ReturnType<typeof manifestOf>]
  const { version } = library
  const needed = server.dependencies?.[library.name]
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, { version?: string }> }
  const problems = [
    ...(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) ? [] : [`${PACKAGES[0]}/package.json: the version is ${version}`]),
    ...(server.version === version
      ? []
      : [`${PACKAGES[1]}/package.json: the version is ${server.version}, that of ${library.name} ${version}`]),
    ...(needed === version ? [] : [`${PACKAGES[1]}/package.json: needs ${library.name} ${needed}, and ${version} is built`]),
    ...PACKAGES.flatMap((from) => {
      const locked = lock.packages[from]?.version
      return locked === version ? [] : [`package-lock.json: ${from} is ${locked}, not ${version}: run npm install`]
    }),
  ]
  return { version, problems }
}

/** The state of CHANGELOG.md: `missing` if no heading is that of the version, not even Unreleased. */
export function changelogOf(root: string, version: string): 'released' | 'unreleased' | 'missing' {
  const [first = ''] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('## '))
  const dated = new RegExp(`^## ${version.replaceAll('.', String.raw`\.`)} - \\d{4}-\\d{2}-\\d{2}$`)
  if (dated.test(first)) return 'released'
  return first === '## Unreleased' ? 'unreleased' : 'missing'
}

/** Files that are changed, or not committed. */
export function changesOf(root: string): string[] {
  return git(root, 'status', '--porcelain')
    .split('\n')
    .filter((line) => line !== '')
}

/** Whether the commit has the tag of the version, from which the tarballs of a release are made. */
export function isTagged(root: string, version: string): boolean {
  return git(root, 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`)
}

function git(root: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', [...args], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args.join(' ')} failed: ${stderr.trim()}`)
  return stdout
}
