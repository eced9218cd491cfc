import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Embeds the stores' programs (.lua, .sql) into committed programs.gen.ts files, so that no file is read at run time.
 * Usage: generate-programs.js [--check]; with --check nothing is written and a difference is an error.
 */
const stores = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'packages', 'sluice', 'src', 'stores')
const HEADER = '// Made from the programs beside this file by `npm run generate`; edit those, not this.\n\n'

interface Target {
  readonly file: string
  readonly text: string
}

function main(): void {
  const targets = [redis(), postgres()].filter((target) => target !== undefined)
  const stale = targets.filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text)
  if (!process.argv.includes('--check')) {
    for (const { file, text } of stale) writeFileSync(file, text)
    console.log(`programs: ${targets.length} files, ${stale.length} written`)
    return
  }
  for (const { file } of stale) console.error(`${file.slice(stores.length + 1)} is out of date: run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
}

function redis(): Target | undefined {
  const folder = join(stores, 'redis', 'lua')
  if (!existsSync(folder)) return undefined
  const source = strip(include(folder, 'consume.lua'), '--')
  const sha1 = createHash('sha1').update(source).digest('hex')
  const text = `${HEADER}export const consumeProgram: { readonly sha1: string; readonly source: string } = {\n  sha1: '${sha1}',\n  source: ${literal(source)},\n}\n`
  return { file: join(folder, '..', 'programs.gen.ts'), text }
}

/** Migrations are append-only: their order is their number, their text is never changed once published. */
function postgres(): Target | undefined {
  const folder = join(stores, 'postgres', 'sql')
  if (!existsSync(join(folder, 'migrations.json'))) return undefined
  const names = JSON.parse(readFileSync(join(folder, 'migrations.json'), 'utf8')) as string[]
  const items = names.map((name) => `  { name: '${name}', source: ${literal(strip(include(folder, `${name}.sql`), '--'))} },\n`)
  const text = `${HEADER}export const migrations: readonly { readonly name: string; readonly source: string }[] = [\n${items.join('')}]\n`
  return { file: join(folder, '..', 'programs.gen.ts'), text }
}

function include(folder: string, name: string): string {
  const text = readFileSync(join(folder, name), 'utf8')
  return text.replaceAll(/^-- include: (\S+)$/gm, (_, other: string) => include(folder, other))
}

/** Comments and blank lines are for readers; a program is sent whole when a server does not know it. */
function strip(text: string, comment: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return `${lines.filter((line) => line !== '' && !line.trimStart().startsWith(comment)).join('\n')}\n`
}

function literal(text: string): string {
  return `\`${text.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('${', '\\${')}\``
}

main()
