import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresTargets, redisTarget, type Target } from './programs.ts'

/**
 * Embeds the stores' programs (.lua, .sql) into committed programs.gen.ts files, so that no file is read at run time. Usage:
 * generate-programs.js [--check | --accept] [STORES]. With --check nothing is written, and a difference is an error. A migration whose text
 * differs from the recorded one is refused. --accept records it, and is only for migrations that were never published.
 */
const args = process.argv.slice(2)
const folders = args.filter((arg) => !arg.startsWith('--'))
const stores = folders[0] ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'packages', 'sluice', 'src', 'stores')

function main(): void {
  const { targets, changed } = postgres()
  targets.push(...redis())
  if (changed.length > 0 && !args.includes('--accept')) {
    for (const name of changed) {
      console.error(
        `postgres/sql/tables/${name}.sql is not the text that was recorded: add a migration instead (never published: --accept)`,
      )
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
  return existsSync(folder) ? [redisTarget(folder)] : []
}

function postgres(): { targets: Target[]; changed: readonly string[] } {
  const folder = join(stores, 'postgres', 'sql')
  if (!existsSync(join(folder, 'tables', 'migrations.json'))) return { targets: [], changed: [] }
  const { embedded, record, changed } = postgresTargets(folder)
  return { targets: [record, embedded], changed }
}

main()
