import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions, type Metafile } from 'esbuild'
import { filesBelow } from './source-files.ts'

/** The folder of a package in the path of one of its files. */
const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/
const OWNER = /^copyright (?:\(c\) )?\d{4}/i
const LICENSES = ['LICENSE', 'LICENSE.md', 'license']

/**
 * Bundles the script and the style of the benchmark's report into `bench/dist/report-page/built`. A report contains them, and shows
 * the licenses of the packages in the bundle. Does nothing if the bundle is newer than all that it is made from.
 */
export async function bundleReportPage(root: string): Promise<void> {
  const [source, compiled] = [join(root, 'bench', 'src', 'report-page'), join(root, 'bench', 'dist', 'report-page')]
  const built = join(compiled, 'built')
  const scripts = readdirSync(compiled).filter((file) => file.endsWith('.js'))
  const inputs = [
    join(source, 'page.css'),
    join(root, 'package-lock.json'),
    import.meta.filename,
    ...scripts.map((file) => join(compiled, file)),
  ]
  const outputs = existsSync(built) ? filesBelow(built).map((file) => join(built, file)) : []
  if (outputs.length > 0 && newest(inputs) <= Math.min(...outputs.map(timeOf))) return
  mkdirSync(built, { recursive: true })
  const options: BuildOptions = {
    bundle: true,
    minify: true,
    target: 'es2023',
    logLevel: 'warning',
    absWorkingDir: root,
    legalComments: 'none',
  }
  await build({ ...options, entryPoints: [join(source, 'page.css')], outfile: join(built, 'page.css') })
  await build({ ...options, format: 'iife', entryPoints: [join(compiled, 'load.js')], outfile: join(built, 'load.js') })
  const page = { entryPoints: [join(compiled, 'page.js')], outfile: join(built, 'page.js') }
  const { metafile } = await build({ ...options, ...page, format: 'esm', metafile: true })
  writeFileSync(join(built, 'licenses.txt'), licensesOf(root, metafile))
}

/** The licenses of the packages in a bundle. A license text that several packages have is in the result once. */
function licensesOf(root: string, { outputs }: Metafile): string {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const folders = [...new Set(files.flatMap((file) => PACKAGE.exec(file)?.[0] ?? []))].sort()
  const byText = new Map<string, string[]>()
  for (const folder of folders) {
    const text = licenseIn(join(root, folder))
    const owners = text.split('\n').filter((line) => OWNER.test(line))
    const terms = text
      .split('\n')
      .filter((line) => !OWNER.test(line))
      .join('\n')
      .trim()
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as { name: string; version: string }
    byText.set(terms, [...(byText.get(terms) ?? []), `${name} ${version}: ${owners.join('; ')}`])
  }
  return `${[...byText].map(([terms, names]) => `${names.join('\n')}\n\n${terms}`).join('\n\n\n')}\n`
}

function licenseIn(folder: string): string {
  const file = LICENSES.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (file === undefined) throw new Error(`${folder} has no license file, which the report must contain`)
  return readFileSync(file, 'utf8')
}

function newest(files: readonly string[]): number {
  return Math.max(...files.map(timeOf))
}

function timeOf(file: string): number {
  return statSync(file).mtimeMs
}
