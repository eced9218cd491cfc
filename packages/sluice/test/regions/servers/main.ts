import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findPostgres, findRedis } from '@sluice/scripts/engines'
import { run, textOf } from './run.ts'

/**
 * Runs four regions over three Redis servers and a PostgreSQL server, with faults: `npm run regions -- SECONDS SEED`. Prints what occurred,
 * and exits with 1 if an audit failed.
 */
const [seconds = 60, seed = Date.now() % 1_000_000_000] = process.argv.slice(2).map(Number)
const [redis, postgres] = [findRedis(), findPostgres()]
const missing = [redis, postgres].flatMap((found) => ('missing' in found ? [found.missing] : []))

async function main(redisServer: string, initdb: string): Promise<boolean> {
  // All folders of the run are in this one. So removing it is enough if a signal ends the run.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-regions-'))
  // PostgreSQL runs under another user.
  chmodSync(folder, 0o711)
  process.env['TMPDIR'] = folder
  const stops: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).toReversed()) await one()
    rmSync(folder, { recursive: true, force: true })
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => void stop().finally(() => process.exit(130)))
  try {
    console.log(`seed ${seed}, ${seconds} s of random cuts`)
    const record = await run({ seconds, seed, periodMs: 1_000, redis: redisServer, postgres: initdb, stops })
    console.log(textOf(record))
    return record.problems.length + record.late.length === 0
  } finally {
    await stop()
  }
}

if ('path' in redis && 'path' in postgres) process.exit((await main(redis.path, postgres.path)) ? 0 : 1)
console.log(`regions: needs redis-server and PostgreSQL: ${missing.join('; ')}`)
process.exit(1)
