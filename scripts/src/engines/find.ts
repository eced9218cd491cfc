import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where a program was found, or why it was not. */
export type Found = { readonly path: string } | { readonly missing: string }

/**
 * Finds a program: on PATH, then in the folders that Debian uses for programs that are not on PATH. If it is in none, apt-get installs it,
 * if that is allowed.
 */
export function findBinary(name: string, folders: readonly string[], debianPackage: string): Found {
  const here = search(name, folders)
  if (here !== undefined) return { path: here }
  const why = install(debianPackage)
  const installed = why === undefined ? search(name, folders) : undefined
  return installed === undefined
    ? { missing: `no ${name} on PATH or in Debian's places; ${why ?? `${debianPackage} did not bring it`}` }
    : { path: installed }
}

function search(name: string, folders: readonly string[]): string | undefined {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return [...onPath, ...folders].map((folder) => join(folder, name)).find((file) => existsSync(file))
}

/** The folders of the PostgreSQL versions that Debian has installed, newest first. */
export function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return []
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'))
}

/** Installs a package, as root on Debian. Returns the reason if it was not installed. `SLUICE_NO_INSTALL` forbids it. */
function install(debianPackage: string): string | undefined {
  if (process.env['SLUICE_NO_INSTALL'] !== undefined) return 'SLUICE_NO_INSTALL is set'
  if (process.getuid?.() !== 0) return 'not root, so apt-get was not called'
  if (!existsSync('/etc/debian_version') || !existsSync('/usr/bin/apt-get')) return 'not Debian, so apt-get was not called'
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-qq'], { env })
  const { status, stderr } = withoutServices(() =>
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage], { env, encoding: 'utf8' }),
  )
  return status === 0 ? undefined : `apt-get could not install ${debianPackage}: ${stderr.trim().split('\n').at(-1) ?? ''}`
}

/** The program that Debian's packages ask whether they may start the servers that they bring: exit code 101 says no. */
const MAY_START = '/usr/sbin/policy-rc.d'

/** Runs `work`, which installs packages, so that none of them starts its server: the tests start their own, and a proxy takes port 80. */
function withoutServices<Result>(work: () => Result): Result {
  if (existsSync(MAY_START)) return work()
  writeFileSync(MAY_START, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return work()
  } finally {
    rmSync(MAY_START)
  }
}

/** The ids of the first of these users that exists, for programs that refuse to run as root. */
export function userId(...names: readonly string[]): { uid: number; gid: number } | undefined {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of names) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(':')
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  return undefined
}
