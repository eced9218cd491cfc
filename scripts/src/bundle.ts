import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { copyPage } from './page-files.ts'
import { bundleReportPage } from './report-page.ts'

/**
 * Bundles the compiled library for Node. Node takes about two milliseconds to load a file, and longer for a larger one. So the bundle has
 * a file for each subpath, and two more with the modules that they share: one with what `sluice` loads, and one with what the stores on
 * servers load in addition. These export only what other files use of them, and the rest is left out. Bundlers of applications load the
 * unbundled modules, so that they can leave out unused ones. Does nothing if the bundle is newer than all compiled files and
 * `package.json`, which lists the subpaths. Also copies the service's page into the built server, and bundles the page of the benchmark's
 * report.
 */
const root = realpathSync(join(import.meta.dirname, '..', '..', 'packages', 'sluice'))
const [compiled, bundled] = [join(root, 'dist'), join(root, 'bundle')]

/** A file of the bundle with modules that several subpaths share. */
interface Shared {
  readonly file: string
  /**
   * Files of the library. The shared file contains the modules that all of these files load, except those that an earlier shared file
   * contains.
   */
  readonly loadedBy: readonly string[]
}

const SHARED: readonly Shared[] = [
  { file: 'core.js', loadedBy: ['index.js'] },
  { file: 'ring.js', loadedBy: ['redis.js', 'postgres.js'] },
]

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly node: string; readonly default: string }>>
}

const OPTIONS = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: 'node20',
  platform: 'neutral',
  packages: 'external',
  external: ['node:*'],
  logLevel: 'warning',
} satisfies BuildOptions

/** The packages that a module for Node loads with `require`, so that a missing one is reported with the line that installs it. */
const NEEDED: Readonly<Record<string, string>> = { yaml: 'sluice/policy' }

async function main(): Promise<void> {
  const manifest = join(root, 'package.json')
  const changed = [manifest, import.meta.filename].map((file) => statSync(file).mtimeMs)
  if (Math.max(newestIn(compiled), ...changed) <= newestIn(bundled)) return
  const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
  const doors = Object.values(exports).filter((entry) => typeof entry !== 'string')
  rmSync(bundled, { recursive: true, force: true })
  mkdirSync(bundled, { recursive: true })

  const places = await placesOf(SHARED)
  const entryPoints = doors.map(({ node, default: file }) => ({ in: join(root, file), out: node.replace(/^\.\/bundle\/|\.js$/g, '') }))
  await build({ ...OPTIONS, entryPoints, outdir: bundled, splitting: true, plugins: [needed, shared(places, SHARED)] })
  // The last shared file is written first, because each one exports only what the files already written take from it.
  for (const [index, { file }] of [...SHARED.entries()].toReversed()) await bundleShared(file, places, SHARED.slice(0, index))
  for (const file of filesIn(bundled)) {
    // The bundler writes absolute paths of the shared files. It also keeps imports that import no name. They are removed, because no
    // module does anything when it is loaded.
    const text = readFileSync(file, 'utf8').replaceAll(/^import "[^"]*";\n+/gm, '')
    const named = SHARED.map((one) => join(bundled, one.file))
    writeFileSync(
      file,
      named.reduce((all, one) => all.replaceAll(`"${one}"`, `"${relativePath(dirname(file), one)}"`), text),
    )
  }
}

/** A module in a shared file, with the name that its exports begin with there. */
interface Place {
  readonly file: string
  readonly name: string
}

/** By the path of a module: the shared file that has the module, and the prefix of its exports in that file. */
async function placesOf(files: readonly Shared[]): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  for (const { file, loadedBy } of files) {
    const [first = [], ...others] = await Promise.all(loadedBy.map(modulesOf))
    for (const module of first) {
      if (!module.startsWith(compiled) || places.has(module) || !others.every((modules) => modules.includes(module))) continue
      places.set(module, { file: join(bundled, file), name: `m${places.size}_` })
    }
  }
  return places
}

/** A plugin: a name whose module is in one of these shared files is imported from that file. */
function shared(places: ReadonlyMap<string, Place>, files: readonly Shared[]): Plugin {
  const paths = files.map(({ file }) => join(bundled, file))
  return {
    name: 'shared',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^\// }, ({ path }) => (paths.includes(path) ? { path, external: true } : undefined))
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8').replaceAll(FROM, (statement, verb, names, from) => {
          const place = places.get(join(dirname(path), from))
          if (place === undefined || !paths.includes(place.file)) return statement
          return `${verb} { ${listOf(names)
            .map((name) => renamed(name, place))
            .join(', ')} } from ${JSON.stringify(place.file)};`
        })
        return { contents, resolveDir: dirname(path) }
      })
    },
  }
}

/** A statement that imports or exports names from another file. */
const FROM = /^(import|export) \{([^}]*)\} from ['"]([^'"]*)['"];$/gm

function listOf(names: string): string[] {
  return names.split(',').flatMap((name) => name.trim() || [])
}

/** Rewrites one name of an import or export statement: the shared file exports it with the module's prefix. */
function renamed(name: string, { name: prefix }: Place): string {
  const [taken, as = taken] = name.split(' as ')
  return `${prefix}${taken} as ${as}`
}

/** Writes a shared file with the exports that the files of the bundle take from it. */
async function bundleShared(name: string, places: ReadonlyMap<string, Place>, before: readonly Shared[]): Promise<void> {
  const file = join(bundled, name)
  const used = new Set(filesIn(bundled).flatMap((other) => namesFrom(readFileSync(other, 'utf8'), file)))
  let contents = ''
  for (const [module, place] of places) {
    const names = place.file === file ? (await exportsOf(module)).filter((one) => used.has(place.name + one)) : []
    const exported = names.map((one) => `${one} as ${place.name}${one}`)
    if (names.length > 0) contents += `export { ${exported.join(', ')} } from ${JSON.stringify(module)};\n`
  }
  await build({ ...OPTIONS, stdin: { contents, resolveDir: compiled }, outfile: file, plugins: [shared(places, before)] })
}

/** The names that the text of a file of the bundle takes from another. */
function namesFrom(text: string, file: string): string[] {
  return [...text.matchAll(FROM)].flatMap(([, , names = '', from]) =>
    from === file ? listOf(names).map((one) => one.split(' as ')[0] as string) : [],
  )
}

async function exportsOf(module: string): Promise<string[]> {
  return Object.keys((await import(pathToFileURL(module).href)) as object)
}

const needed: Plugin = {
  name: 'needed',
  setup({ onLoad, onResolve }) {
    const filter = new RegExp(`^(?:${Object.keys(NEEDED).join('|')})$`)
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'needed' }))
    onLoad({ filter, namespace: 'needed' }, async ({ path }) => ({ contents: await required(path, NEEDED[path] as string) }))
  },
}

/**
 * A module with the exports of a package, which it loads with `require`. A static import of a missing package would fail before any code
 * could say what to do, and an asynchronous import would keep programs from loading the subpath with `require`.
 */
async function required(name: string, subpath: string): Promise<string> {
  const names = Object.keys((await import(name)) as object).filter((one) => one !== 'default' && one !== 'module.exports')
  const message = `${subpath} needs the package ${name}. Install it: npm install ${name}`
  return `import { createRequire } from 'node:module'
export const { ${names.join(', ')} } = load()
function load() {
  try {
    return createRequire(import.meta.url)('${name}')
  } catch (cause) {
    if (cause?.code !== 'MODULE_NOT_FOUND') throw cause
    throw Object.assign(new Error('${message}', { cause }), { code: cause.code })
  }
}
`
}

/** All modules that an entry point loads. */
async function modulesOf(entryPoint: string): Promise<string[]> {
  const entryPoints = [join(compiled, entryPoint)]
  const { metafile } = await build({ ...OPTIONS, entryPoints, outdir: bundled, write: false, metafile: true })
  return Object.keys(metafile.inputs).map((file) => join(root, file))
}

function relativePath(from: string, to: string): string {
  const path = relative(from, to)
  return path.startsWith('.') ? path : `./${path}`
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.js')).map((file) => join(folder, file))
}

/** When the newest JavaScript file of a folder was written; 0 for a folder without one. */
function newestIn(folder: string): number {
  return filesIn(folder).reduce((newest, file) => Math.max(newest, statSync(file).mtimeMs), 0)
}

const repository = join(root, '..', '..')
copyPage(repository)
await bundleReportPage(repository)
await main()
