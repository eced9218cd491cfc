// Builds the documentation site into site/dist/site: the documents of the repository, and the API reference from the docstrings.
// Usage: npm run site
// The generator's packages are installed in site/node_modules when they are missing. They are kept apart, because they are large and
// nothing else needs them.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { filesBelow } from './source-files.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly 'sluice-source'?: string }>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const site = join(root, 'site')
const library = join(root, 'packages/sluice')
/** The documents of the repository, and their pictures. */
const PAGES = /^(?:[A-Z]+\.md|(?:docs|deploy|examples)\/.+\.(?:md|png|svg)|bench\/README\.md)$/

/** The TypeScript file of every entry point that the library exports. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8')) as Manifest
  return Object.values(exports).flatMap((target) => {
    const source = typeof target === 'string' ? undefined : target['sluice-source']
    return source === undefined ? [] : [join(library, source)]
  })
}

function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: site, stdio: 'inherit' })
  if (status === 0) return
  console.error(`npm run site: ${command} ${args[0] ?? ''} failed${error === undefined ? '' : `: ${error.message}`}`)
  process.exit(1)
}

if (!existsSync(join(site, 'node_modules/.package-lock.json'))) run('npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error')
rmSync(join(site, 'dist'), { recursive: true, force: true })
// The generator finds its own packages only from files below its folder.
for (const page of filesBelow(root).filter((file) => PAGES.test(file))) {
  mkdirSync(dirname(join(site, 'dist/pages', page)), { recursive: true })
  cpSync(join(root, page), join(site, 'dist/pages', page))
}
const tool = (path: string): string => join(site, 'node_modules', path)
run(process.execPath, tool('typedoc/bin/typedoc'), ...entryPoints().flatMap((file) => ['--entryPoints', file]))
run(process.execPath, tool('vitepress/bin/vitepress.js'), 'build')
console.log('the site is in site/dist/site')
