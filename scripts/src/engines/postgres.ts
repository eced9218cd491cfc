import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findBinary, type Found, postgresFolders, userId } from './find.ts'
import { freePort } from './ports.ts'
import { type Engine, startEngine } from './process.ts'

export function findPostgres(): Found {
  return findBinary('initdb', postgresFolders(), 'postgresql')
}

/**
 * A private PostgreSQL on a free port of the loopback address. Settings are the defaults (with synchronous commit), except those for
 * connections. If this process is root, the server runs under the user postgres or nobody, because it refuses root.
 * @param kept the folder and port of a stopped server that is started again, or of a server that has never run. With `kept` the files stay
 * when the server stops
 */
export async function startPostgres(
  initdb: string,
  extra: readonly string[] = [],
  kept?: { readonly folder: string; readonly port: number },
): Promise<Engine> {
  const port = kept?.port ?? (await freePort())
  const folder = kept?.folder ?? mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const user = process.getuid?.() === 0 ? userId('postgres', 'nobody') : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  if (!existsSync(data)) initialize(initdb, data, folder, user)
  const settings = [
    '-c',
    `port=${port}`,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${folder}`,
    '-c',
    'max_connections=200',
    ...extra,
  ]
  // The program on PATH may be a link. The other programs of its version are in the folder of the link's target.
  const binaries = dirname(realpathSync(initdb))
  const isReady = join(binaries, 'pg_isready')
  return startEngine(join(binaries, 'postgres'), ['-D', data, ...settings], {
    ...user,
    cwd: folder,
    stopSignal: 'SIGINT',
    url: `postgres://sluice@127.0.0.1:${port}/postgres`,
    ready: async () => spawnSync(isReady, ['-h', '127.0.0.1', '-p', String(port), '-t', '1']).status === 0,
    cleanUp: () => (kept === undefined ? rmSync(folder, { recursive: true, force: true }) : undefined),
  })
}

function initialize(initdb: string, data: string, folder: string, user: ReturnType<typeof userId>): void {
  const made = spawnSync(initdb, ['-D', data, '-U', 'sluice', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--no-locale'], {
    ...user,
    encoding: 'utf8',
    cwd: folder,
  })
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.stdout}${made.stderr}`)
}
