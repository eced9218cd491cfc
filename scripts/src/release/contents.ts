import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { Staged } from './stage.ts'

/** What a published package may contain. Anything else is a mistake of the list `files`, or a file that a build left. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  sluice:
    /^(?:package\.json|policy\.schema\.json|LICENSE|(?:README|CHANGELOG|SECURITY)\.md|docs\/.+\.md|dist\/.+(?:\.d\.ts|\.js)|bundle\/.+\.js)$/,
  'sluice-server': /^(?:package\.json|LICENSE|README\.md|policies\/.+\.yaml|dist\/page-files\/[^.].*|dist\/.+\.js)$/,
}
const CONDITIONS = 'types, module, node, default'
const PAGE_FILES = 'dist/page-files/'
const NODE_MODULES: ReadonlySet<string> = new Set(builtinModules)

/** The problems of a package's files: one line each, that names the file. */
export function problemsOf({ folder, manifest }: Staged, files: readonly string[]): string[] {
  const has = new Set(files)
  const allowed = ALLOWED[manifest.name] ?? /^$/
  const texts = (ending: RegExp): [file: string, text: string][] =>
    files.filter((file) => ending.test(file)).map((file) => [file, readFileSync(join(folder, file), 'utf8')])
  const problems = [
    ...files.filter((file) => !allowed.test(file)).map((file) => `${file} does not belong into the package`),
    ...wrongConditions(manifest),
    ...targetsOf(manifest).flatMap((target) => (has.has(posix.normalize(target)) ? [] : [`package.json: ${target} is not in the package`])),
    ...texts(/\.js$/).flatMap(([file, text]) => (text.includes('\n//# sourceMappingURL=') ? [`${file} names a source map`] : [])),
    ...texts(/\.(?:js|d\.ts)$/).flatMap(([file, text]) => wrongImports(file, text, has, manifest)),
    ...texts(/\.md$/).flatMap(([file, text]) => wrongLinks(file, text, has)),
    ...Object.values(manifest.bin ?? {}).flatMap((file) => {
      const starts = readFileSync(join(folder, file), 'utf8').startsWith('#!/usr/bin/env node\n')
      return starts ? [] : [`${file} does not begin with #!/usr/bin/env node`]
    }),
  ]
  return problems.map((problem) => `${manifest.name}: ${problem}`)
}

/**
 * Problems of the export conditions. Node loads the bundle. Bundlers for Node load the modules, which they find only by the condition
 * `module`.
 */
function wrongConditions({ exports }: Staged['manifest']): string[] {
  return Object.entries(exports ?? {}).flatMap(([path, entry]) => {
    const found = typeof entry === 'string' ? CONDITIONS : Object.keys(entry).join(', ')
    return found === CONDITIONS ? [] : [`package.json: the conditions of ${path} are ${found}: expected ${CONDITIONS}`]
  })
}

function targetsOf({ bin, exports }: Staged['manifest']): string[] {
  const targets = Object.values(exports ?? {}).flatMap((entry) => (typeof entry === 'string' ? [entry] : Object.values(entry)))
  return [...targets, ...Object.values(bin ?? {})]
}

function wrongImports(file: string, text: string, has: ReadonlySet<string>, manifest: Staged['manifest']): string[] {
  if (file.startsWith(PAGE_FILES)) return []
  const known = [manifest['dependencies'], manifest['peerDependencies']].flatMap((list) => Object.keys((list as object | undefined) ?? {}))
  return importsOf(file, text).flatMap((specifier) => {
    if (specifier.startsWith('.')) {
      const target = posix.join(posix.dirname(file), specifier)
      const found = file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target
      return has.has(found) ? [] : [`${file} imports ${specifier}, which is not in the package`]
    }
    const wanted = packageOf(specifier)
    const allowed = specifier.startsWith('node:') || NODE_MODULES.has(specifier) || known.includes(wanted)
    return allowed ? [] : [`${file} imports ${wanted}, which is no dependency`]
  })
}

/** What a file imports: files and packages, as written. */
export function importsOf(file: string, text: string): string[] {
  const { module } = parseSync(file, text)
  const literal = /^['"](.+)['"]$/
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value)),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => literal.exec(text.slice(start, end))?.[1]),
    ...(file.endsWith('.d.ts') ? [...text.matchAll(/\bimport\(['"]([^'"]+)['"]\)/g)].map(([, specifier]) => specifier) : []),
  ].filter((specifier) => specifier !== undefined)
}

/** The package of an import: `@scope/name` of `@scope/name/file`. */
export function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

function wrongLinks(file: string, text: string, has: ReadonlySet<string>): string[] {
  return [...text.matchAll(/\]\(((?!#|[a-z]+:)[^)\s#]+)/gi)].flatMap(([, target = '']) => {
    return has.has(posix.join(posix.dirname(file), target)) ? [] : [`${file} links to ${target}, which is not in the package`]
  })
}
