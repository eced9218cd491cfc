import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LOGIN_TYPES } from '../fences/compile.ts'
import { importsOf, packageOf } from '../release/contents.ts'
import { EXPORTED } from './declarations.ts'
import type { Context, Step } from './step.ts'

/** The folder of an application that uses the library. */
export const APP = 'app'
/** The least TypeScript that can read the declarations. docs/versions.md states it. */
export const LEAST_TYPESCRIPT = '5.4'
/** Names under which both compilers are installed. */
const COMPILERS = { typescript: 'typescript', least: 'least-typescript' } as const
/** The packages that only these steps need, by name, with their versions. The repository does not install them. */
const TOOLS: Readonly<Record<string, string>> = { webpack: '5.112.2', 'source-map-loader': '5.0.0' }

/** Installs the library as a reader of README does, and the packages that README's programs import, at the versions of the repository. */
export const installApplication: Step = {
  name: 'npm install of the library in an empty folder',
  async run({ root, place, library, programs }) {
    const known = knownVersions(root)
    const version = (name: string): string => `${name}@${known.get(name) ?? 'latest'}`
    const needed = subpathsIn(library).flatMap(({ code, types }) => [...code, ...types])
    const imported = new Set([...programs.flatMap(({ packages }) => packages), ...needed].filter((name) => name !== library.manifest.name))
    const types = [...imported].map((name) => `@types/${name}`).filter((name) => known.has(name))
    const least = `${COMPILERS.least}@npm:typescript@${LEAST_TYPESCRIPT}`
    const tools = Object.entries(TOOLS).map(([name, which]) => `${name}@${which}`)
    place.write(`${APP}/package.json`, JSON.stringify({ private: true, type: 'module' }))
    await place.run('npm', ['install', '--no-audit', library.tarball, ...[...imported].map(version)], APP)
    await place.run(
      'npm',
      ['install', '-D', '--no-audit', ...['@types/node', ...types, 'typescript', 'esbuild'].map(version), least, ...tools],
      APP,
    )
  },
}

/** The versions that the repository's packages name. */
function knownVersions(root: string): Map<string, string> {
  const manifests = ['package.json', 'packages/sluice/package.json', 'packages/server/package.json']
  return new Map(
    manifests.flatMap((file) => {
      const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Record<string, Record<string, string>>
      return Object.entries({ ...dependencies, ...devDependencies }).filter(([, version]) => !version.startsWith('npm:'))
    }),
  )
}

const RESOLUTIONS = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
} as const
const STRICT = { strict: true, skipLibCheck: false, target: 'es2022', types: ['node'], exactOptionalPropertyTypes: true }

/** What is compiled, with both compilers: README's programs and an import of every subpath; and exports that need declarations. */
export const typeSteps: readonly Step[] = Object.entries(COMPILERS).flatMap(([version, compiler]) => {
  const named = `TypeScript ${version === 'least' ? LEAST_TYPESCRIPT : 'of this repository'}`
  const uses = Object.entries(RESOLUTIONS).map(([name, options]) => ({
    name: `types with ${named}, ${name}`,
    async run(context: Context) {
      const { place, programs, library } = context
      for (const { file, text } of programs) place.write(`${APP}/src/${file}.ts`, text)
      place.write(`${APP}/src/login.d.ts`, LOGIN_TYPES)
      place.write(
        `${APP}/src/subpaths.ts`,
        subpathsOf(library)
          .map((path) => `import '${path}'\n`)
          .join(''),
      )
      await compile(context, compiler, name, { ...options, noEmit: true }, 'src')
    },
  }))
  const declares = {
    name: `types with ${named}, declarations of what an application exports`,
    async run(context: Context) {
      for (const [name, text] of Object.entries(EXPORTED)) {
        const folder = `exported-${name}`
        context.place.write(`${APP}/${folder}/index.ts`, text)
        // The rules for names in declarations are the same for both ways to find packages.
        const options = { ...RESOLUTIONS.nodenext, declaration: true, rootDir: folder, outDir: 'declared' }
        await compile(context, compiler, folder, options, folder)
      }
    },
  }
  return [...uses, declares]
})

/** @throws Error with the errors in a folder of the application and in the library */
async function compile({ place }: Context, compiler: string, name: string, options: object, folder: string): Promise<void> {
  place.write(`${APP}/tsconfig.${name}.json`, JSON.stringify({ compilerOptions: { ...STRICT, ...options }, include: [folder] }))
  const command = `"$0" node_modules/${compiler}/bin/tsc -p tsconfig.${name}.json --pretty false || true`
  const lines = (await place.run('bash', ['-c', command, process.execPath], APP)).split('\n')
  // Errors in the declarations of other packages do not count: these may be wrong, or need a later compiler.
  const own = lines.filter((line) => line.trim() !== '' && !/^(?:\s|node_modules\/(?!sluice\/))/.test(line))
  if (own.length > 0) throw new Error(own.join('\n'))
}

/** A subpath with code, and the packages that it needs. */
interface Subpath {
  readonly path: string
  readonly code: ReadonlySet<string>
  readonly types: ReadonlySet<string>
}

/** The subpaths that an application imports. The test kit is left out, because only vitest loads it, in a test. */
function subpathsIn({ manifest, folder }: Context['library']): Subpath[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([path, entry]) => {
    if (typeof entry === 'string') return []
    const [code, types] = [new Set<string>(), new Set<string>()]
    gather(folder, entry['default'] as string, code)
    gather(folder, entry['types'] as string, types)
    return code.has('vitest') ? [] : [{ path: manifest.name + path.slice(1), code, types }]
  })
}

/** Adds the packages that a file imports, itself or through other files. */
function gather(folder: string, file: string, packages: Set<string>, seen: Set<string> = new Set()): void {
  if (seen.has(file)) return
  seen.add(file)
  for (const specifier of importsOf(file, readFileSync(join(folder, file), 'utf8'))) {
    if (!specifier.startsWith('.')) {
      if (!specifier.startsWith('node:')) packages.add(packageOf(specifier))
      continue
    }
    const target = join(dirname(file), specifier)
    gather(folder, file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target, packages, seen)
  }
}

/** The subpaths that load no package but these. */
export function subpathsOf(library: Context['library'], allowed?: readonly string[]): string[] {
  const loads = ({ code }: Subpath): boolean => allowed === undefined || [...code].every((name) => allowed.includes(name))
  return subpathsIn(library).flatMap((subpath) => (loads(subpath) ? [subpath.path] : []))
}
