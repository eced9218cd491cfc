import { applyGroup } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import { type Call, type CallGroup, type CallOptions, type GroupVerdict, StoreFailure } from '../store.ts'
import { verdictOf } from '../verdict-of.ts'
import { arrayText, digestOf, digestsOf } from './encode.ts'
import { classify, isConflict } from './failures.ts'
import type { Chosen, PostgresStore } from './options.ts'
import { articleProgram } from './programs.gen.ts'
import { READ_ONLY, refuseReadOnly } from './read-only.ts'
import { createSweeper } from './sweeper.ts'
import { countOf, readRows, type Stored, type SwapStatements, swapStatements, type Write } from './swap-rows.ts'

/** Longest pause before the first retry, in milliseconds; it doubles up to the maximum. */
const PAUSE_MS = 2
const MAX_PAUSE_MS = 50
/** The bound of retries without a deadline. */
const MAX_TRIES = 100
/** Ranges of ids that a sweep processes one after another. */
const PARTS = 256

/** The result of one attempt, and the rows it wants to write. */
interface Thought<T> {
  readonly answer: T
  readonly writes: readonly Write[]
}

/**
 * A store that reads states with the server's time and decides them here with the kernels. One statement then writes them if none has
 * changed meanwhile. If one has, or the server aborts a statement because of a conflict, it retries with jitter within the deadline. It
 * uses no functions, no locks, and statements on as few rows as possible: one row is a single-row statement. It is exact. A key that many
 * processes charge at once costs retries; batching calls (`withCoalescing`) avoids them.
 */
export function swapStore({ client, table, onContention, sweepEveryMs, maxInFlight, clock, random }: Chosen): PostgresStore {
  const statements: SwapStatements = swapStatements(table)
  const remote = createRemoteCalls('postgres', clock, { maxInFlight, maxSent: client.connections })

  const swap = <T>(
    ids: readonly string[],
    options: CallOptions | undefined,
    think: (stored: ReadonlyMap<string, Stored>, now: Micros) => Thought<T>,
  ): Promise<T> => {
    const over = (tries: number): boolean =>
      tries >= MAX_TRIES ||
      onContention === 'fail' ||
      options?.signal?.aborted === true ||
      (options?.deadline !== undefined && clock.monotonic() >= options.deadline)
    const attempt = async (tries = 0): Promise<T> => {
      let cause: unknown
      try {
        const { stored, now } = readRows(await client.query(statements.read, [arrayText(ids)]))
        const { answer, writes } = think(stored, options?.now ?? now)
        if (writes.length === 0 || (await write(writes))) return answer
      } catch (error) {
        if (!isConflict(error) || over(tries)) throw error
        cause = error
      }
      if (!over(tries)) {
        await new Promise<void>((resolve) => clock.after(random() * Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** tries), resolve))
        if (!over(tries)) return attempt(tries + 1)
      }
      throw new StoreFailure('contention', 'no', 'postgres: others kept changing the same states', { cause })
    }
    return remote.run(() => attempt(), options, classify)
  }
  /** Writes rows in the order of their ids, so that statements on several rows do not wait for each other. */
  const write = async (unordered: readonly Write[]): Promise<boolean> => {
    const writes = [...unordered].sort((one, other) => (one.id < other.id ? -1 : 1))
    const fresh = (): string => String(Math.floor(random() * Number.MAX_SAFE_INTEGER) + 1)
    if (writes.length > 1) {
      const columns = [
        writes.map(({ id }) => id),
        writes.map(fresh),
        writes.map(({ version }) => version),
        writes.map(({ freshAt }) => freshAt),
        writes.map(({ numbers }) => `"${numbers.join(' ')}"`),
      ]
      return countOf(await client.query(statements.writeAll, [...columns.map(arrayText), String(writes.length)])) === 1
    }
    const { id, version, freshAt, numbers } = writes[0] as Write
    const values = [id, fresh(), String(freshAt), numbers.join(' ')]
    if (version === '0') return countOf(await client.query(statements.make, values)) === 1
    return countOf(await client.query(statements.change, [...values, version])) === 1
  }
  const decide = (groups: readonly CallGroup[], options: CallOptions | undefined, charging: boolean): Promise<readonly GroupVerdict[]> =>
    swap(digestsOf(groups.flatMap(({ calls }) => calls.map(({ id }) => id))), options, (stored, now) => {
      const firsts = new Map<string, Call>()
      for (const call of groups.flatMap(({ calls }) => calls)) if (!firsts.has(digestOf(call.id))) firsts.set(digestOf(call.id), call)
      const ids = [...firsts.keys()]
      const states = ids.map((id) => stateOf(firsts.get(id) as Call, stored.get(id)))
      const blocks = ids.map((id) => stored.get(id)?.until ?? 0)
      const changed = new Map<number, Write>()
      const answer = groups.map(({ calls }): GroupVerdict => {
        const asked = calls.map(({ id, limit, cost, phase }) => ({ slot: ids.indexOf(digestOf(id)), limit, cost, phase }))
        const result = applyGroup(states, asked, now, blocks, !charging)
        for (const { slot, limit, state } of result.writes) {
          const id = ids[slot] as string
          const { algorithm, plan } = limit
          const numbers = algorithm.codec.encodeState(state)
          states[slot] = algorithm.codec.decodeState(numbers)
          changed.set(slot, { id, version: stored.get(id)?.version ?? '0', freshAt: algorithm.expiresAt(plan, states[slot]), numbers })
        }
        return verdictOf(result, now)
      })
      return { answer, writes: charging ? [...changed.values()] : [] }
    })
  const one = (statement: string, values: readonly string[], options: CallOptions | undefined) =>
    remote.run(() => client.query(statement, values), options, classify)
  const sweeper = createSweeper(sweepEveryMs, clock, random, async (first, count, deadline) => {
    const [from, to] = [first, Math.min(PARTS, first + count)].map((part) => part.toString(16).padStart(2, '0').padEnd(32, '0'))
    const last = first + count >= PARTS
    const values = [from as string, last ? 'f'.repeat(32) : (to as string)]
    return { gone: countOf(await one(statements.sweep, values, deadline === undefined ? undefined : { deadline })), more: !last }
  })

  return {
    name: 'postgres',
    capabilities: { clock: 'server', atomicBatch: 'any', sync: false },
    consume: async (groups, options) => {
      const verdicts = await decide(groups, options, true)
      if (options?.now === undefined) sweeper.asked()
      return verdicts
    },
    peek: (groups, options) => decide(groups, options, false),
    adjust: (calls, amounts, options) =>
      swap(digestsOf(calls.map(({ id }) => id)), options, (stored, now) => {
        const changed = new Map<string, Write>()
        calls.forEach((call, index) => {
          const id = digestOf(call.id)
          const { algorithm, plan } = call.limit
          const before = changed.has(id) ? decoded(call, (changed.get(id) as Write).numbers) : stateOf(call, stored.get(id))
          const state = before === undefined ? undefined : algorithm.adopt(plan, before, now, call.phase)
          const after = algorithm.adjust(plan, state, now, amounts[index] as number, call.phase, options?.receipt)
          if (after === before) return
          const numbers = after === undefined ? [] : algorithm.codec.encodeState(after)
          const freshAt = after === undefined ? 0 : algorithm.expiresAt(plan, algorithm.codec.decodeState(numbers))
          changed.set(id, { id, version: stored.get(id)?.version ?? '0', freshAt, numbers })
        })
        return { answer: undefined, writes: [...changed.values()] }
      }),
    block: async (ids, duration, options) => {
      for (const id of digestsOf(ids)) {
        const version = String(Math.floor(random() * Number.MAX_SAFE_INTEGER) + 1)
        if (duration === null) await one(statements.unblock, [id, version], options)
        else await one(statements.block, [id, version, String(options?.now ?? 0), String(duration)], options)
      }
    },
    reset: async (ids, options) => {
      const version = String(Math.floor(random() * Number.MAX_SAFE_INTEGER) + 1)
      if (ids.length > 0) await one(statements.reset, [arrayText(digestsOf(ids)), version], options)
    },
    sweep: (options) => sweeper.all(options?.deadline),
    ready: async (options) => {
      await decide([], options, false)
      refuseReadOnly(await one(READ_ONLY, [], options))
    },
    migrate: ({ compatFunction } = {}) =>
      client
        .run(compatFunction === true ? `${statements.migrate};\n${articleProgram}` : statements.migrate)
        .catch((error: unknown) => Promise.reject(classify(error))),
    close: async () => {},
  }
}

function stateOf(call: Call, stored: Stored | undefined): unknown {
  return stored === undefined ? undefined : decoded(call, stored.numbers)
}

function decoded({ limit }: Call, numbers: readonly number[]): unknown {
  return numbers.length === 0 ? undefined : limit.algorithm.codec.decodeState(numbers)
}
