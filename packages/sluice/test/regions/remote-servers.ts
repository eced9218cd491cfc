import type { Redis } from 'ioredis'
import pgDriver from 'pg'
import { functionNames } from '../../src/stores/postgres/functions.ts'
import { pg, type PostgresStore } from '../../src/stores/postgres/index.ts'
import { chosen } from '../../src/stores/postgres/options.ts'
import { programStore } from '../../src/stores/postgres/program-store.ts'
import { bareRedisStore, ioredis } from '../../src/stores/redis/index.ts'
import type { Store } from '../../src/stores/store.ts'
import { schema } from '../conformance/postgres-rows.ts'

/** The server of a region, as a history uses it. */
export interface RegionServer {
  /** Set if the server decides wrongly on purpose. Only the audits may notice this. */
  readonly wrong?: boolean
  /** A store of another process. */
  open(): Store
  empty(): Promise<void>
  /** Returns what brings back what is there now. */
  snapshot(): Promise<() => Promise<void>>
  /**
   * The server is lost, and another run (life) of it begins.
   * @param turn decides what the new run finds: nothing, the snapshot, or what a crash leaves
   * @param restore of a snapshot, if there is one
   */
  lose(turn: number, restore: (() => Promise<void>) | undefined): Promise<void>
}

export function redisServer(client: Redis): RegionServer {
  return {
    open: () => bareRedisStore({ client: ioredis(client) }),
    empty: async () => void (await client.flushall()),
    async snapshot() {
      const keys = await client.keys('*')
      const values = await Promise.all(
        keys.map(async (key) => [key, Math.max(0, await client.pexpiretime(key)), await client.dumpBuffer(key)] as const),
      )
      return async () => void (await Promise.all(values.map(([key, ends, value]) => client.restore(key, ends, value, 'ABSTTL'))))
    },
    async lose(turn, restore) {
      // Makes the server a replica and promotes it, which begins another run. A server that was started again also knows no program.
      await client.replicaof('127.0.0.1', 1)
      await client.replicaof('NO', 'ONE')
      await client.script('FLUSH')
      await client.flushall()
      if (turn % 3 > 0) await restore?.()
    },
  }
}

export interface PostgresServer extends RegionServer {
  close(): Promise<void>
}

const TABLES = ['sluice_state', 'sluice_plan', 'sluice_log', 'sluice_region', 'sluice_cell']

const BUCKET = `${'bigint, '.repeat(8)}bigint`
const TYPES = {
  guard: 'bigint, boolean, uuid[], uuid, bigint, bigint, uuid[], bigint[], int[], bigint[], bigint[]',
  bucket: `bigint, int, int, uuid, ${BUCKET}, uuid, bigint, bigint, bigint, bigint`,
}
const OWN = Array.from({ length: 13 }, (_, index) => `$${index + 1}`).join()

/** Wrong functions that replace `sluice_guard`, and `sluice_bucket`, which compares what the guard compares. */
const WRONG: Readonly<Record<'guard' | 'shifts', Readonly<Record<keyof typeof TYPES, string>>>> = {
  /** Those that compare nothing. */
  guard: { guard: `select null::text`, bucket: `select @bucket(${OWN}, null, null, null, null, null)` },
  /** Those that compare everything except the instant of the latest shift (close or open of an era). */
  shifts: {
    guard: `select @guard($1, $2, $3, $4, $5, -9007199254740991, $7, $8, $9, $10, $11)`,
    bucket: `select @bucket(${OWN}, $14, $15, $16, -9007199254740991, $18)`,
  },
}

/** A schema of a shared PostgreSQL server. @param without what decisions do not compare, so that the audits must notice */
export async function postgresServer(url: string, without?: keyof typeof WRONG): Promise<PostgresServer> {
  const own = schema(url)
  // No test depends on what a crash of the machine keeps, so commits need not wait for the disk.
  const pool = new pgDriver.Pool({ connectionString: url, max: 4, options: `-c search_path=${own.name} -c synchronous_commit=off` })
  const names = new Map(functionNames('sluice'))
  const open = (): PostgresStore => programStore(chosen({ client: pg(pool), sweepEveryMs: 0 }), names)
  await own.create()
  await open().migrate()
  if (without !== undefined) {
    for (const [name, text] of Object.entries(WRONG[without])) {
      const body = text.replace(`@${name}`, names.get(name) as string)
      const types = TYPES[name as keyof typeof TYPES]
      await pool.query(`create function wrong_${name}(${types}) returns text language sql volatile as $$ ${body} $$`)
      names.set(name, `wrong_${name}`)
    }
  }
  const empty = async (): Promise<void> => void (await pool.query(`truncate ${TABLES.join()}`))
  return {
    wrong: without === 'guard',
    open,
    empty,
    async snapshot() {
      const { rows } = await pool.query(`select ${TABLES.map((table) => `(select json_agg(t)::text from ${table} t) as ${table}`).join()}`)
      return async () => {
        await empty()
        for (const table of TABLES)
          await pool.query(`insert into ${table} select * from json_populate_recordset(null::${table}, $1)`, [rows[0][table] ?? '[]'])
      }
    },
    async lose(turn, restore) {
      // As after a crash, which empties the unlogged tables and no others.
      if (turn % 3 === 2) await pool.query('truncate sluice_region, sluice_cell')
      else if (turn % 3 === 1 && restore !== undefined) await restore()
      else await empty()
    },
    async close() {
      await pool.end()
      await own.drop()
    },
  }
}
