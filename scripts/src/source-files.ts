import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** Never the repository's own text: installed, built, or left behind by a run. */
const SKIPPED: ReadonlySet<string> = new Set(['node_modules', 'dist', '.git', 'coverage', '.sluice', 'data'])

/** Every file below `folder`, as paths relative to it with forward slashes, sorted; empty where the folder does not exist. */
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
    // Also a file: that is what `.git` is in a work tree.
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
