import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { filesBelow } from './source-files.ts'

/** Files of the dashboard's folder that are not part of the built page. */
const APART = /^(?:package\.json|tsconfig\.json|[^/]*\.md|(?:src|test)\/.*)$/

/**
 * Copies the built page of the dashboard into the built server, so that the published server contains it. Removes files that are not part
 * of the page.
 */
export function copyPage(root: string): void {
  const from = join(root, 'apps', 'dashboard')
  const to = join(root, 'packages', 'server', 'dist', 'page-files')
  // Only the scripts of the present sources: when a source is deleted, the compiler does not delete its built file.
  const scripts = filesBelow(join(from, 'src')).map((file) => basename(file).replace(/\.ts$/, '.js'))
  const others = filesBelow(from).filter((file) => !APART.test(file))
  const files = new Map([
    ...scripts.map((file) => [file, join(from, 'dist', file)] as const),
    ...others.map((file) => [file, join(from, file)] as const),
  ])
  copy([...files].map(([file, source]) => [source, join(to, file)]))
  for (const file of filesBelow(to)) if (!files.has(file)) rmSync(join(to, file))
}

/** Copies files that differ. A file that is the same is not written, because a running service may be reading it. */
function copy(pairs: readonly (readonly [from: string, to: string])[]): void {
  for (const [from, to] of pairs) {
    const bytes = readFileSync(from)
    if (existsSync(to) && readFileSync(to).equals(bytes)) continue
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, bytes)
  }
}
