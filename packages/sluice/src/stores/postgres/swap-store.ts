import { compareAndSwapStore, type SwapBackend } from '../families/compare-and-swap.ts'
import { decideAroundLocks, swapAround } from './around-locked.ts'
import { arrayText } from './encode.ts'
import { createLanes } from './lanes.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { createQuery } from './query.ts'
import { serverCheck } from './server-check.ts'
import { lockedRows } from './statements.ts'
import { createSweeper } from './sweeper.ts'
import { swapBackend } from './swap-backend.ts'
import { migrateSwap } from './swap-migrate.ts'
import { countOf, readRows, swapStatements } from './swap-rows.ts'

/** How many ranges of ids a sweep of the table has. */
const PARTS = 256

export function swapStore(options: Chosen): PostgresStore {
  const { client, table, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const own = `${table}_swap`
  const statements = swapStatements(own)
  const lanes = createLanes(client, maxInFlight, clock)
  const query = createQuery(lanes, clock, random)
  const check = serverCheck(client, query, own, options.onWarning)

  const read: SwapBackend['read'] = async (ids) => readRows(await client.query(statements.read, [arrayText(ids)]))
  const backend = swapBackend(lanes, read, async (rows, send) => {
    const columns = [
      rows.map(({ id }) => id),
      rows.map(({ next }) => next),
      rows.map(({ expiresAt }) => expiresAt),
      rows.map(({ until }) => until),
      rows.map(({ numbers }) => numbers.join(' ')),
      rows.map(({ version }) => version),
    ]
    if (rows.length !== 1) {
      const lists = columns.map((column) => arrayText(column.map((value) => `"${value}"`)))
      return countOf(await send(statements.writeAll, [...lists, String(rows.length)])) === 1
    }
    const values = columns.map(([value]) => String(value))
    const sent = values[5] === '0' ? send(statements.make, values.slice(0, 5)) : send(statements.change, values)
    return countOf(await sent) === 1
  })
  const store = compareAndSwapStore(backend, { clock, random })

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, count, bound) => {
    const last = first + count >= PARTS
    const values = [partId(first), last ? 'f'.repeat(32) : partId(first + count)]
    const rows = await query(statements.sweep, values, bound, 'wait')
    return { gone: countOf(rows), more: !last }
  })
  const decide = swapAround(store, decideAroundLocks(onContention, query, lockedRows(own)))

  return {
    ...store,
    capabilities: { ...store.capabilities, regions: "with concurrency 'compare-and-swap'" },
    decide: async (groups, callOptions) => {
      const verdicts = await decide(groups, callOptions)
      if (callOptions?.charge !== false && callOptions?.now === undefined) sweeper.decided()
      return verdicts
    },
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await store.ready(callOptions)
      await check(callOptions)
    },
    migrate: (migrateOptions) => migrateSwap(client, statements, migrateOptions),
  }
}

function partId(part: number): string {
  return part.toString(16).padStart(2, '0').padEnd(32, '0')
}
