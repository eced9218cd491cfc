import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Folders without text of the repository: they are installed, built, or left by a run. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git', 'coverage', '.sluice', '.release', 'data', 'results'])

/** Every file below `folder`, as paths relative to it with forward slashes, sorted. Empty if the folder does not exist. */
export function filesBelow(folder: string): string[] {
  return walk(folder)
    .map((file) => relative(folder, file).split(sep).join('/'))
    .sort()
}

/** A file's text, or undefined for one that is not text. */
export function textOf(file: string): string | undefined {
  const bytes = readFileSync(file)
  return bytes.includes(0) ? undefined : bytes.toString('utf8')
}

function walk(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    // Files are skipped too, because `.git` is a file in a work tree.
    if (SKIPPED.has(entry.name)) return []
    if (entry.isDirectory()) return walk(path)
    return entry.isFile() ? [path] : []
  })
}

function entriesOf(folder: string): { name: string; isDirectory(): boolean; isFile(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
