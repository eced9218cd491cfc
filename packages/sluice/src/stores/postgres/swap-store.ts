import { compareAndSwapStore, type SwapBackend } from '../families/compare-and-swap.ts'
import type { DecideOptions } from '../store.ts'
import { aroundLocked } from './around-locked.ts'
import { arrayText, digestOf } from './encode.ts'
import { classify, isConflict } from './failures.ts'
import { createLanes, type Locking } from './lanes.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { articleProgram } from './programs.gen.ts'
import { refuseReadOnly, SETTINGS, warnsOnce } from './server-check.ts'
import { digestsIn, lockedRows } from './statements.ts'
import { createSweeper } from './sweeper.ts'
import { countOf, readRows, swapStatements } from './swap-rows.ts'

/** Ranges of ids that a sweep processes one after another. */
const PARTS = 256

/**
 * A store that decides here, by compare-and-swap. It uses no functions and no row locks of its own, and statements on as few rows as
 * possible: one row is a single-row statement.
 */
export function swapStore({ client, table, onContention, sweepEveryMs, maxInFlight, clock, random, onWarning }: Chosen): PostgresStore {
  const own = `${table}_swap`
  const statements = swapStatements(own)
  const locked = lockedRows(own)
  const lanes = createLanes(client, maxInFlight, clock)
  const warn = warnsOnce(client, onWarning)

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
    const options = deadline === undefined ? undefined : { deadline }
    const rows = await lanes.run(() => lanes.send(statements.sweep, values, options, 'wait'), options, 'wait')
    return { gone: countOf(rows), more: !last }
  })
  const lockedAmong = async (digests: readonly string[], options: DecideOptions): Promise<ReadonlySet<string>> =>
    digestsIn(await lanes.run(() => lanes.send(locked, [arrayText(digests)], options, 'fail'), options, 'fail'))

  return {
    ...store,
    decide: async (groups, options) => {
      if (options?.charge === false) return store.decide(groups, options)
      const hasty = { ...options, onContention: 'fail' } as const
      const verdicts =
        (options?.onContention ?? onContention) === 'wait'
          ? await store.decide(groups, options)
          : await aroundLocked(
              groups,
              (some) => store.decide(some, hasty),
              (digests) => lockedAmong(digests, hasty),
            )
      if (options?.now === undefined) sweeper.decided()
      return verdicts
    },
    sweep: (options) => sweeper.all(options?.deadline),
    ready: async (options) => {
      await store.ready(options)
      const settings = await lanes.run(() => lanes.send(SETTINGS, [], options, 'none'), options, 'none')
      refuseReadOnly(settings)
      warn(settings)
    },
    migrate: ({ compatFunction } = {}) =>
      client
        .run(compatFunction === true ? `${statements.migrate};\n${articleProgram}` : statements.migrate)
        .catch((error: unknown) => Promise.reject(classify(error))),
  }
}
