import type pg from 'pg'
import type { Quota } from '../contestants/contestant.ts'
import { mixedLoad } from '../mixed/requests.ts'
import { randomOrder } from '../random-order.ts'
import { type BatchOptions, batchesOf, type CallersLane } from '../redis/batches.ts'
import { type CallersTimed, interleaveLanes } from '../redis/rounds.ts'
import type { Sample } from '../redis/samples.ts'
import { openMixed } from './mixed.ts'
import { placeOf } from './place.ts'
import { copyRows } from './way.ts'
import { POSTGRES_WAYS, type WayName } from './ways.ts'

/** The number of random keys that are drawn before the measurement. */
const DRAWS = 1_048_576
const SEED = 0x2545_f491
const SAMPLES = 5

export interface LanesInput extends BatchOptions {
  readonly seconds: number
  readonly url: string
  readonly quota: Quota
  /** The callers of each limiter. It has as many connections. */
  readonly callers: number
  /** A number: each request has a random one of this many keys, whose rows are made beforehand. `mixed`: three limits for each request. */
  readonly keys: number | 'mixed'
  readonly ways: readonly WayName[]
}

/** Bytes for each key, of the tables of a limiter (with their maps and free space) and of the indexes. */
export interface Weight {
  readonly table: number
  readonly index: number
}

export interface LanesResult {
  readonly timed: readonly CallersTimed[]
  /** Latencies from extra batches of each limiter, in which each request is timed. In the rounds only a whole batch is timed. */
  readonly samples: readonly (readonly Sample[])[]
  /** One for each limiter; empty if no rows were made beforehand. */
  readonly weights: readonly Weight[]
}

interface OpenedLane {
  readonly lane: CallersLane
  readonly weight?: Weight
  close(): Promise<void>
}

/** Compares limiters on one server. Each has its own schema, and as many connections as callers. */
export async function compareWays({ seconds, ways, ...options }: LanesInput): Promise<LanesResult> {
  const opened: OpenedLane[] = []
  try {
    const made: Made = new Map()
    for (const way of ways) opened.push(await open(way, options, made))
    const lanes = opened.map(({ lane }) => batchesOf(lane, options))
    const timed = await interleaveLanes(lanes, seconds)
    const samples: Sample[][] = lanes.map(() => [])
    const all = [...lanes.entries()]
    for (let round = 0; round < SAMPLES; round += 1)
      for (const [index, lane] of round % 2 === 0 ? all : all.toReversed()) samples[index]?.push(await lane.sample())
    return { timed, samples, weights: opened.flatMap(({ weight }) => weight ?? []) }
  } finally {
    for (const { close } of opened) await close()
  }
}

/** By the names of tables: the schema in which their rows were made first. Other limiters with these tables copy the rows from there. */
type Made = Map<string, string>

async function open(name: WayName, { url, quota, callers, keys }: Omit<LanesInput, 'seconds' | 'ways'>, made: Made): Promise<OpenedLane> {
  const way = POSTGRES_WAYS[name]
  const place = await placeOf({ url, way: name, isolation: 'read committed' }, `lanes_${callers}_${keys}`)
  const pool = place.pool(callers)
  let calls = 0
  pool.on('acquire', () => (calls += 1))
  await way.prepare(pool, quota)
  const weight = typeof keys === 'number' && keys > 1 ? await filled(pool, name, { quota, keys, schema: place.schema, made }) : undefined
  const running = keys === 'mixed' ? await openMixed(name, pool, quota) : await way.open(pool, quota)
  const next = 'decide' in running ? await mixedLoad(running.decide) : withKeys(running.invoke, keys as number)
  return {
    lane: {
      name: way.name,
      callers,
      invoke: next,
      passed: (answer) => answer === true,
      sent: () => ({ calls, commands: calls }),
    },
    ...(weight === undefined ? {} : { weight }),
    close: async () => {
      await running.close()
      await pool.end()
      await place.drop()
    },
  }
}

/** Makes a function that requests the next key. The texts are made before the measurement. */
function withKeys(invoke: (key: string) => Promise<boolean>, keys: number): () => Promise<boolean> {
  const names = namesOf(keys)
  const order = randomOrder(keys === 1 ? 1 : DRAWS, keys, SEED)
  let next = 0
  return () => {
    next = next + 1 < order.length ? next + 1 : 0
    return invoke(names[order[next] as number] as string)
  }
}

function namesOf(keys: number): string[] {
  return Array.from({ length: keys }, (_, index) => `user:${10_000_000 + index}`)
}

interface Rows {
  readonly quota: Quota
  readonly keys: number
  readonly schema: string
  readonly made: Made
}

/** Makes a row for each key, or copies the rows of another limiter that has the same rows. Then measures the tables. */
async function filled(pool: pg.Pool, name: WayName, { quota, keys, schema, made }: Rows): Promise<Weight> {
  const { fill, alike = [] } = POSTGRES_WAYS[name]
  if (fill === undefined) throw new Error(`${POSTGRES_WAYS[name].name} cannot make rows beforehand`)
  const source = made.get(alike.join())
  if (source === undefined || alike.length === 0) await fill(pool, quota, namesOf(keys))
  else await copyRows(pool, source, alike)
  if (source === undefined && alike.length > 0) made.set(alike.join(), schema)
  const { rows } = await pool.query<{ table: string; index: string }>(
    `select sum(pg_table_size(oid)) as table, sum(pg_indexes_size(oid)) as index from pg_class
      where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
  )
  const [sizes] = rows
  return { table: Number(sizes?.table) / keys, index: Number(sizes?.index) / keys }
}
