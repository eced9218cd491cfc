import { dirname, resolve } from 'node:path'
import { embeddedIn, luaPrograms, postgresTargets, readProgram, type ReadProgram, redisTarget } from '../programs.ts'
import type { Servers } from './servers.ts'
import type { Texts } from './worker.ts'

/** The source that tests import for a file. For a program of a store it is the file that embeds the program. */
export function importedFor(file: string): string {
  return isProgram(file) ? embeddedIn(folderOf(file)) : file
}

/** The sources that tests load instead of those on disk, if a file has another text. */
export function textsFor(file: string, text: string): Texts {
  if (!isProgram(file)) return { [file]: text }
  const folder = folderOf(file)
  const target = file.endsWith('.lua') ? redisTarget(folder, reading(file, text)) : postgresTargets(folder, reading(file, text)).embedded
  return { [target.file]: target.text }
}

/** Whether the servers accept the programs that a changed file gives. */
export async function isTaken(file: string, text: string, servers: Servers | undefined): Promise<boolean> {
  if (!isProgram(file) || servers === undefined) return true
  const folder = folderOf(file)
  if (file.endsWith('.sql')) return servers.installs(postgresTargets(folder, reading(file, text)).statements)
  const before = new Set(luaPrograms(folder).map(({ source }) => source))
  return servers.compiles(
    luaPrograms(folder, reading(file, text))
      .map(({ source }) => source)
      .filter((source) => !before.has(source)),
  )
}

/** The folder of a store that contains the folders of its programs. */
function folderOf(file: string): string {
  return dirname(dirname(file))
}

function isProgram(file: string): boolean {
  return file.endsWith('.lua') || file.endsWith('.sql')
}

function reading(file: string, text: string): ReadProgram {
  return (path) => (resolve(path) === resolve(file) ? text : readProgram(path))
}
