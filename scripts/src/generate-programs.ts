import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compareTexts, recordOf, type RecordedMigration } from './migration-texts.ts'

/**
 * Embeds the stores' programs (.lua, .sql) into committed programs.gen.ts files, so that no file is read at run time.
 * Usage: generate-programs.js [--check | --accept] [STORES]; with --check nothing is written and a difference is an error. A
 * migration whose text is not the recorded one is refused, but with --accept, which is for what was never published.
 */
const args = process.argv.slice(2)
const folders = args.filter((arg) => !arg.startsWith('--'))
const stores = folders[0] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'packages', 'sluice', 'src', 'stores')
const HEADER = '// Made from the programs beside this file by `npm run generate`; edit those, not this.\n\n'

interface Target {
  readonly file: string
  readonly text: string
}

function main(): void {
  const { targets, changed } = postgres()
  targets.push(...redis())
  if (changed.length > 0 && !args.includes('--accept')) {
    for (const name of changed) {
      console.error(`postgres/sql/${name}.sql is not the text that was recorded: add a migration instead (never published: --accept)`)
    }
    process.exitCode = 1
    return
  }
  const stale = targets.filter(({ file, text }) => !existsSync(file) || readFileSync(file, 'utf8') !== text)
  if (!args.includes('--check')) {
    for (const { file, text } of stale) writeFileSync(file, text)
    console.log(`programs: ${targets.length} files, ${stale.length} written`)
    return
  }
  for (const { file } of stale) console.error(`${file.slice(stores.length + 1)} is out of date: run npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
}

function redis(): Target[] {
  const folder = join(stores, 'redis', 'lua')
  if (!existsSync(folder)) return []
  const programs = readdirSync(folder)
    .filter((name) => readFileSync(join(folder, name), 'utf8').includes('\n-- returns '))
    .sort()
  const texts = programs.map((name) => {
    const source = strip(include(folder, name), '--')
    const sha1 = createHash('sha1').update(source).digest('hex')
    return `export const ${name.replace('.lua', '')}Program: Program = {\n  sha1: '${sha1}',\n  source: ${literal(source)},\n}\n`
  })
  const type = 'export interface Program {\n  readonly sha1: string\n  readonly source: string\n}\n'
  return [{ file: join(folder, '..', 'programs.gen.ts'), text: `${HEADER}${[type, ...texts].join('\n')}` }]
}

/** Migrations are append-only: their order is their number, their text is never changed once published. */
function postgres(): { targets: Target[]; changed: readonly string[] } {
  const folder = join(stores, 'postgres', 'sql')
  const record = join(folder, 'migrations.json')
  if (!existsSync(record)) return { targets: [], changed: [] }
  const recorded = JSON.parse(readFileSync(record, 'utf8')) as RecordedMigration[]
  const { texts, changed } = compareTexts(recorded, (name) => strip(include(folder, `${name}.sql`), '--'))
  const items = texts.map(({ name, sha256, source }) => `  { name: '${name}', sha256: '${sha256}', source: ${literal(source)} },\n`)
  const type = 'readonly { readonly name: string; readonly sha256: string; readonly source: string }[]'
  const article = join(folder, 'article.sql')
  const asked = existsSync(article)
    ? `\nexport const articleProgram: string = ${literal(strip(readFileSync(article, 'utf8'), '--'))}\n`
    : ''
  const text = `${HEADER}export const migrations: ${type} = [\n${items.join('')}]\n${asked}`
  return {
    targets: [
      { file: record, text: recordOf(texts) },
      { file: join(folder, '..', 'programs.gen.ts'), text },
    ],
    changed,
  }
}

function include(folder: string, name: string): string {
  const text = readFileSync(join(folder, name), 'utf8')
  return text.replaceAll(/^ *-- include: (\S+)$/gm, (_, other: string) => include(folder, other))
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
