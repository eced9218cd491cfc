import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { copyPage } from './page-files.ts'
import { bundleReportPage } from './report-page.ts'

/**
 * Bundles the compiled library for Node, which takes about two milliseconds to load a file. The bundle has a core file with the modules
 * that most programs use, and one file for each subpath, which imports those modules from the core. Bundlers of applications load the
 * unbundled modules, so that they can leave out unused ones. Does nothing if the bundle is newer than all compiled files and
 * `package.json`, which lists the subpaths. Also copies the service's page into the built server, and bundles that of
 * the benchmark's report.
 */
const root = realpathSync(join(import.meta.dirname, '..', '..', 'packages', 'sluice'))
const [compiled, bundled] = [join(root, 'dist'), join(root, 'bundle')]
const CORE = join(bundled, 'core.js')
/** The subpaths whose modules are in the core file. */
const CORE_DOORS = ['index.js', 'redis.js', 'remote.js'].map((file) => join(compiled, file))

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly node: string; readonly default: string }>>
}

const OPTIONS: BuildOptions = {
  bundle: true,
  format: 'esm',
  target: 'node20',
  platform: 'neutral',
  packages: 'external',
  external: ['node:*'],
  logLevel: 'warning',
}

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

  const modules = await modulesOf(CORE_DOORS)
  const nameOf = new Map(modules.map((file, index) => [file, `m${index}`]))
  const contents = modules.map((file) => `export * as ${nameOf.get(file)} from ${JSON.stringify(file)}\n`).join('')
  await build({ ...OPTIONS, stdin: { contents, resolveDir: compiled }, outfile: CORE })

  const inCore: Plugin = {
    name: 'in-core',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^sluice-core$/ }, () => ({ path: CORE, external: true }))
      onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const name = nameOf.get(path)
        return name === undefined ? undefined : { contents: await takenFromCore(path, name), resolveDir: dirname(path) }
      })
    },
  }
  const entryPoints = doors.map(({ node, default: file }) => ({ in: join(root, file), out: node.replace(/^\.\/bundle\/|\.js$/g, '') }))
  await build({ ...OPTIONS, entryPoints, outdir: bundled, splitting: true, plugins: [needed, inCore] })
  // The bundler writes the absolute path of the core file, so it is replaced by a relative one.
  for (const file of filesIn(bundled)) {
    const text = readFileSync(file, 'utf8')
    if (text.includes(CORE)) writeFileSync(file, text.replaceAll(CORE, relativePath(dirname(file), CORE)))
  }
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
 * A module with the exports of a package, which it loads with `require`: a static import of a missing package fails before any code could
 * say what to do, and an asynchronous one would keep programs from loading the subpath with `require`.
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

/** All modules that these entry points load. */
async function modulesOf(entryPoints: string[]): Promise<string[]> {
  const { metafile } = await build({ ...OPTIONS, entryPoints, outdir: bundled, write: false, metafile: true, absWorkingDir: root })
  return Object.keys(metafile.inputs).map((file) => join(root, file))
}

async function takenFromCore(path: string, name: string): Promise<string> {
  const names = Object.keys((await import(pathToFileURL(path).href)) as object)
  return `import { ${name} } from 'sluice-core'\nexport const { ${names.join(', ')} } = ${name}\n`
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
