import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { withLinks } from './documents.ts'
import type { Owner } from './owner.ts'

/** The packages that are published, in the order in which they must be: the second needs the first. */
export const PACKAGES = ['packages/sluice', 'packages/server'] as const

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files: readonly string[]
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly [field: string]: unknown
}

export interface Staged {
  readonly folder: string
  /** Where the package is in the repository. */
  readonly from: string
  readonly manifest: Manifest
}

/** The condition with which this repository's tests load sources. */
const SOURCES = 'sluice-source'
/** Built files that are not published: source maps, because the sources are not published, and the compiler's `.tsbuildinfo` files. */
const UNPUBLISHED = /\.map$|\.tsbuildinfo$/
const UNPUBLISHED_FIELDS: ReadonlySet<string> = new Set(['private', 'devDependencies'])

/** The manifest of a package in the repository. */
export function manifestOf(root: string, from: string): Manifest {
  return JSON.parse(readFileSync(join(root, from, 'package.json'), 'utf8')) as Manifest
}

/**
 * Writes the folder of each package as it is published. It has built files without references to source maps, the documents, and a
 * manifest without what only the repository uses.
 */
export function stage(root: string, to: string, owner: Owner): Staged[] {
  return PACKAGES.map((from) => {
    const manifest = publishedManifest(manifestOf(root, from), from, owner)
    const folder = join(to, manifest.name)
    rmSync(folder, { recursive: true, force: true })
    const files = filesOf(root, from, manifest)
    const has = (file: string): boolean => files.has(file)
    const tree = owner.repository === '' ? '' : `${owner.repository}/blob/v${manifest.version}`
    for (const [file, source] of files) {
      const [aim, isMarkdown] = [join(folder, file), file.endsWith('.md')]
      mkdirSync(dirname(aim), { recursive: true })
      if (isMarkdown) writeFileSync(aim, withLinks(readFileSync(source, 'utf8'), file, has, tree))
      else if (file.endsWith('.js')) writeFileSync(aim, withoutSourceMap(readFileSync(source, 'utf8')))
      else copyFileSync(source, aim)
    }
    for (const file of Object.values(manifest.bin ?? {})) chmodSync(join(folder, file), 0o755)
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
    return { folder, from, manifest }
  })
}

/** The files of a package: where each is in the package, and where it is taken from. A listed file is the package's own, or of the root. */
function filesOf(root: string, from: string, { files: listed, exports }: Manifest): Map<string, string> {
  const files = new Map<string, string>()
  for (const name of [...listed, 'README.md', 'LICENSE']) {
    const own = join(root, from, name)
    const source = existsSync(own) ? own : join(root, name)
    if (!existsSync(source)) throw new Error(`${from}: ${name} is not there: run npm run build`)
    for (const file of below(source)) {
      const path = relative(dirname(source), file).split(sep).join('/')
      // Declarations are left out of a package without `exports` (the command), because only importers read them. Of `docs` only the texts
      // are taken.
      const left =
        UNPUBLISHED.test(path) ||
        isStale(root, from, path) ||
        (exports === undefined && path.endsWith('.d.ts')) ||
        (name === 'docs' && !path.endsWith('.md'))
      if (!left) files.set(path, file)
    }
  }
  return files
}

/** Whether a built file is left of a source that is gone. The compiler does not delete such files. */
function isStale(root: string, from: string, path: string): boolean {
  const source = /^dist\/(?!page-files\/)(.+?)(?:\.d\.ts|\.js)$/.exec(path)?.[1]
  return source !== undefined && !existsSync(join(root, from, 'src', `${source}.ts`))
}

/** The files below a folder; a file itself. */
function below(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** A manifest as it is published: without what only the repository uses, and with the addresses that the owner gave. */
function publishedManifest(manifest: Manifest, from: string, { repository, homepage, bugs }: Owner): Manifest {
  const fields = Object.entries(manifest).filter(([name]) => !UNPUBLISHED_FIELDS.has(name))
  const exports = Object.entries(manifest.exports ?? {}).map(([path, entry]) => [path, published(entry)] as const)
  return {
    ...(Object.fromEntries(fields) as Manifest),
    ...(manifest.exports === undefined ? {} : { exports: Object.fromEntries(exports) }),
    ...(repository === '' ? {} : { repository: { type: 'git', url: `git+${repository}.git`, directory: from } }),
    ...(homepage === '' ? {} : { homepage }),
    ...(bugs === '' ? {} : { bugs: { url: bugs } }),
    publishConfig: { access: 'public' },
  }
}

function published(entry: string | Readonly<Record<string, string>>): string | Readonly<Record<string, string>> {
  if (typeof entry === 'string') return entry
  return Object.fromEntries(Object.entries(entry).filter(([condition]) => condition !== SOURCES))
}

/** The code without the line that names its source map, because neither map nor source is published. */
function withoutSourceMap(code: string): string {
  return code.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}
