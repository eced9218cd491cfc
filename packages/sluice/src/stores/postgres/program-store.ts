import { type CallGroup, type CallOptions, type GroupVerdict, StoreFailure } from '../store.ts'
import { createAsking } from './asking.ts'
import { arrayText, bucketQuestion, digestOf, digestsOf, planText, questionOf } from './encode.ts'
import { classify } from './failures.ts'
import { type FunctionNames, functionNames } from './functions.ts'
import { migrate } from './migrate.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { READ_ONLY, refuseReadOnly } from './read-only.ts'
import { replay } from './replay.ts'
import { statementsOf } from './statements.ts'
import { createSweeper } from './sweeper.ts'

/**
 * A store whose decisions are made by functions in the database: one statement for each call.
 * @param names names of another version's functions, for a test of two
 */
export function programStore(options: Chosen, names: FunctionNames = functionNames(options.table)): PostgresStore {
  const { client, table, unlogged, onContention, sweepEveryMs, maxInFlight, clock, random } = options
  const statements = statementsOf(names)
  const ask = createAsking({ client, maxInFlight, clock, random })

  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, pages, deadline) => {
    const [row] = await ask(statements.sweep, [String(first), String(pages)], deadline === undefined ? undefined : { deadline })
    const [gone = 0, more = 0] = numbersOf(String(row?.['reply']))
    return { gone, more: more === 1 }
  })

  const run = async (
    groups: readonly CallGroup[],
    callOptions: CallOptions | undefined,
    charging: boolean,
  ): Promise<readonly GroupVerdict[]> => {
    const now = String(callOptions?.now ?? 0)
    const alike = charging && onContention === 'wait' ? bucketQuestion(groups) : undefined
    const question = alike?.question ?? questionOf(groups)
    const values = (waiting: string): string[] => {
      const sizes = groups.map(({ calls }) => calls.length)
      return [now, String(charging), waiting, ...[question.ids, question.firstPlans, sizes, question.plans, question.calls].map(arrayText)]
    }
    const [row] =
      alike === undefined
        ? await ask(statements.consume, (tries) => values(onContention === 'fail' ? '0' : waitingAt(tries)), callOptions)
        : await ask(alike.one ? statements.bucket : statements.buckets, (tries) => [now, waitingAt(tries), ...alike.values], callOptions)
    callOptions?.heard?.()
    const reply = row?.['reply']
    const numbers = typeof reply === 'string' ? numbersOf(reply) : undefined
    const inOrder = numbers === undefined || alike?.one !== false ? numbers : byGroups(numbers, question.slots)
    const verdicts = inOrder === undefined ? undefined : replay(groups, question, inOrder, !charging)
    if (verdicts !== undefined) return verdicts
    throw new StoreFailure('protocol', 'unknown', `postgres: the function answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }

  return {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
    consume: async (groups, callOptions) => {
      const verdicts = await run(groups, callOptions, true)
      if (callOptions?.now === undefined) sweeper.asked()
      return verdicts
    },
    peek: (groups, callOptions) => run(groups, callOptions, false),
    adjust: async (calls, amounts, callOptions) => {
      if (calls.length === 0) return
      const parts = calls.map((call, index) => ({
        id: digestOf(call.id),
        plan: planText(call.limit),
        given: `${amounts[index]},${call.phase}`,
      }))
      // Rows are locked in the order of their ids; calls of one state keep their order.
      parts.sort((one, other) => (one.id < other.id ? -1 : one.id > other.id ? 1 : 0))
      const lists = [parts.map(({ id }) => id), parts.map(({ plan }) => plan), parts.map(({ given }) => given)]
      const times = [String(callOptions?.now ?? 0), String(callOptions?.receipt ?? -1)]
      await ask(statements.adjust, [...times, ...lists.map(arrayText)], callOptions)
    },
    block: async (ids, duration, callOptions) => {
      if (ids.length === 0) return
      await ask(statements.block, [String(callOptions?.now ?? 0), String(duration ?? -1), arrayText(digestsOf(ids))], callOptions)
    },
    reset: async (ids, callOptions) => {
      if (ids.length > 0) await ask(statements.reset, [arrayText(digestsOf(ids))], callOptions)
    },
    sweep: (callOptions) => sweeper.all(callOptions?.deadline),
    ready: async (callOptions) => {
      await run([], callOptions, false)
      refuseReadOnly(await ask(READ_ONLY, [], callOptions))
    },
    migrate: (asked) => migrate(client, { ...asked, table, unlogged }).catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
}

/** How the function waits: for rows and, from the second null reply on, also for rows that others are inserting. */
function waitingAt(tries: number): string {
  return tries < 2 ? '1' : '2'
}

/** The reply with outcomes in the order of the groups. */
function byGroups([now = Number.NaN, ...others]: readonly number[], slots: readonly number[]): number[] {
  return [now, ...slots.map((slot) => others[slot] ?? Number.NaN), ...others.slice(slots.length)]
}

/** Parses `{1,2,3}`; an invalid number becomes NaN. */
function numbersOf(array: string): number[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
}
