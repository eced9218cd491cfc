import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'

/**
 * Bundles the compiled library for Node, where each file of a program takes about two milliseconds to load: one file with the modules of
 * most programs, and one for each subpath, which takes those modules from it. Bundlers load the modules themselves, so that they can leave
 * out what a program does not use. Does nothing if the bundle is newer than everything that was compiled.
 */
const root = realpathSync(join(import.meta.dirname, '..', '..', 'packages', 'sluice'))
const [compiled, bundled] = [join(root, 'dist'), join(root, 'bundle')]
const CORE = join(bundled, 'core.js')
/** Subpaths whose modules are in the core. */
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

async function main(): Promise<void> {
  if (Math.max(newestIn(compiled), statSync(import.meta.filename).mtimeMs) <= newestIn(bundled)) return
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
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
  await build({ ...OPTIONS, entryPoints, outdir: bundled, splitting: true, plugins: [inCore] })
  // The bundler writes the core's absolute path.
  for (const file of filesIn(bundled)) {
    const text = readFileSync(file, 'utf8')
    if (text.includes(CORE)) writeFileSync(file, text.replaceAll(CORE, relativePath(dirname(file), CORE)))
  }
}

/** All modules that are loaded for these. */
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

/** When the last of its JavaScript files was written; 0 if there are none. */
function newestIn(folder: string): number {
  return filesIn(folder).reduce((newest, file) => Math.max(newest, statSync(file).mtimeMs), 0)
}

await main()
