import { compareAndSwapStore, type SwapBackend } from '../families/compare-and-swap.ts'
import type { DecideOptions } from '../store.ts'
import { decideAroundLocks, swapAround } from './around-locked.ts'
import { arrayText, digestOf } from './encode.ts'
import { classify, isConflict } from './failures.ts'
import { createLanes, type Locking } from './lanes.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { compatProgram } from './programs.gen.ts'
import { createQuery } from './query.ts'
import { serverCheck, SETTINGS } from './server-check.ts'
import { lockedRows } from './statements.ts'
import { createSweeper } from './sweeper.ts'
import { countOf, readRows, swapStatements } from './swap-rows.ts'

/** Ranges of ids that a sweep processes one after another. */
const PARTS = 256

/** Decides here, by compare-and-swap, without functions and row locks. One row is a single-row statement. */
export function swapStore({ client, table, onContention, sweepEveryMs, maxInFlight, clock, random, onWarning }: Chosen): PostgresStore {
  const own = `${table}_swap`
  const statements = swapStatements(own)
  const lanes = createLanes(client, maxInFlight, clock)
  const query = createQuery(lanes, clock, random)
  const check = serverCheck(client, onWarning)

  const lockingOf = (options: DecideOptions | undefined): Locking =>
    options?.charge === false ? 'none' : (options?.onContention ?? 'wait')
  const backend: SwapBackend = {
    name: 'postgres',
    clock: 'server',
    idOf: digestOf,
    classify,
    isConflict,
    run: (attempts, options) => lanes.run(attempts, options, lockingOf(options)),
    read: async (ids) => readRows(await client.query(statements.read, [arrayText(ids)])),
    write: async (rows, options) => {
      const columns = [
        rows.map(({ id }) => id),
        rows.map(({ next }) => next),
        rows.map(({ expiresAt }) => expiresAt),
        rows.map(({ until }) => until),
        rows.map(({ numbers }) => numbers.join(' ')),
        rows.map(({ version }) => version),
      ]
      const send = async (values: readonly string[], statement = statements.writeAll): Promise<boolean> =>
        countOf(await lanes.send(statement, values, options, lockingOf(options))) === 1
      if (rows.length === 1) {
        const values = columns.map(([value]) => String(value))
        return values[5] === '0' ? send(values.slice(0, 5), statements.make) : send(values, statements.change)
      }
      return send([...columns.map((column) => arrayText(column.map((value) => `"${value}"`))), String(rows.length)])
    },
  }
  const store = compareAndSwapStore(backend, { clock, random })

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, count, deadline) => {
    const [from, to] = [first, Math.min(PARTS, first + count)].map((part) => part.toString(16).padStart(2, '0').padEnd(32, '0'))
    const last = first + count >= PARTS
    const values = [from as string, last ? 'f'.repeat(32) : (to as string)]
    const rows = await query(statements.sweep, values, deadline === undefined ? undefined : { deadline }, 'wait')
    return { gone: countOf(rows), more: !last }
  })
  const decide = swapAround(store, decideAroundLocks(onContention, query, lockedRows(own)))

  return {
    ...store,
    decide: async (groups, options) => {
      const verdicts = await decide(groups, options)
      if (options?.charge !== false && options?.now === undefined) sweeper.decided()
      return verdicts
    },
    sweep: (options) => sweeper.all(options?.deadline),
    ready: async (options) => {
      await store.ready(options)
      check(await query(SETTINGS, [], options, 'none'))
    },
    migrate: ({ compatFunction } = {}) =>
      client
        .run(compatFunction === true ? `${statements.migrate};\n${compatProgram}` : statements.migrate)
        .catch((error: unknown) => Promise.reject(classify(error))),
  }
}
