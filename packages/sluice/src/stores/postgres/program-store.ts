import { compareAndSwapStore } from '../families/compare-and-swap.ts'
import { type BySwap, programsOrSwap } from '../families/programs-or-swap.ts'
import { withoutShares } from '../by-shares.ts'
import { REGION_MS } from '../region-port.ts'
import { decideAroundLocks, swapAround } from './around-locked.ts'
import { aroundRefused } from './around-refused.ts'
import { changing, isChanged } from './changes.ts'
import { deciding } from './decide.ts'
import { hasFunctions } from './encode.ts'
import { classify } from './failures.ts'
import { type FunctionNames, functionNames } from './functions.ts'
import { createLanes } from './lanes.ts'
import { migrate } from './migrate.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { createQuery } from './query.ts'
import { numbersOf } from './reply.ts'
import { regionPort } from './region-programs.ts'
import { serverCheck } from './server-check.ts'
import { statementsOf } from './statements.ts'
import { createSweeper } from './sweeper.ts'
import { stateBackend } from './swap-states.ts'

const CHANGES = ['adjust', 'release', 'settle', 'extend', 'block', 'unblock', 'reset'] as const

/** @param names installed names of the functions; tests pass those of another version */
export function programStore(options: Chosen, names: FunctionNames = functionNames(options.table)): PostgresStore {
  const { client, table, unlogged, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const statements = statementsOf(table, names)
  const lanes = createLanes(client, maxInFlight, clock)
  const query = createQuery(lanes, clock, random)
  const regionQuery: typeof query = (statement, values, callOptions = { deadline: clock.monotonic() + REGION_MS }, ...others) =>
    query(statement, values, callOptions, ...others)
  const check = serverCheck(client, query, `${table}_state`, options.onWarning)

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, pages, bound) => {
    const [row] = await query(statements.sweep, [String(first), String(pages)], bound, 'none')
    const [gone = 0, more = 0] = numbersOf(String(row?.['reply']))
    return { gone, more: more === 1 }
  })

  const decide = aroundRefused(deciding(query, statements))
  const swap = withoutShares(compareAndSwapStore(stateBackend(client, table, lanes), { clock, random }))

  const charge = decideAroundLocks(onContention, query, statements.locked)

  const programs = (bySwap: BySwap): PostgresStore => ({
    name: 'postgres',
    capabilities: {
      clock: 'server',
      atomicBatch: 'any',
      changes: CHANGES,
      groupOptions: ['maxWait', 'hold'],
      sync: false,
      regions: client.embedded === true ? 'on PGlite' : regionPort(regionQuery, statements),
    },
    decide: async (groups, callOptions) => {
      const swapped = bySwap(groups)
      if (swapped !== undefined) return swapped(groups, callOptions)
      if (callOptions?.charge === false) return decide(groups, callOptions, 'none')
      const verdicts = await charge(groups, callOptions, (some, locking) => decide(some, callOptions, locking))
      if (callOptions?.now === undefined) sweeper.decided()
      return verdicts
    },
    change: changing(query, statements),
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await decide([], callOptions, 'none')
      await check(callOptions)
    },
    migrate: (migrateOptions) =>
      migrate(client, { ...migrateOptions, table, unlogged }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  })
  return programsOrSwap(programs, { ...swap, decide: swapAround(swap, charge) }, hasFunctions, isChanged)
}
