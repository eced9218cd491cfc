import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { type KnownShare, type KnownShares, hasShares, sharesOf } from '../region-port.ts'
import type { BatchState } from '../batch/batch.ts'
import { type Call, type CallGroup, type DecideOptions, type GroupVerdict, type StateId, type Store, StoreFailure } from '../store.ts'
import { namedOf } from './layout.ts'
import { digestProgram, guardProgram, type Program } from './programs.gen.ts'
import type { RegionKeys, SendKeys } from './region-programs.ts'
import type { Loadable } from './run-program.ts'

export type SendBatch = (
  program: Program,
  states: readonly BatchState[],
  args: readonly (string | number)[],
  options: DecideOptions,
) => Promise<unknown>

type Decide = (groups: readonly CallGroup[], options: DecideOptions, send: SendBatch) => Promise<readonly GroupVerdict[]>

/** A key that is decided by a share. */
interface Cell {
  readonly id: StateId
  /** Of its state. */
  readonly name: string
  readonly shares: KnownShares
  readonly known: KnownShare
}

/** How often a group is sent again because what the process knew of the shares was out of date. */
const MAX_ROUNDS = 8

/** Thrown where the server has other shares than the process. Nothing was charged. */
class Stale extends Error {
  readonly cells: readonly number[]

  constructor(cells: readonly number[]) {
    super('other shares')
    this.cells = cells
  }
}

/**
 * Decides groups by the shares that a region holds: the program of the store, which the server runs only if the shares are those that this
 * process knows. If they are not, it reads them and sends the groups again.
 */
export function decideByShares(
  decide: Decide,
  send: SendKeys,
  keys: RegionKeys,
  addressesOf: (states: readonly BatchState[]) => readonly string[],
) {
  const guarded = createGuarded(send)
  return async (groups: readonly CallGroup[], options: DecideOptions): Promise<readonly GroupVerdict[]> => {
    const first = firstShares(groups)
    if (first === undefined) throw new Error('no shares')
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      if (first.view === undefined) await first.refresh(options)
      const { view } = first
      if (view === undefined) continue
      const cells: Cell[] = []
      const byShare = createByShare(cells)
      const own = groups.map((group) => ({ ...group, calls: group.calls.map(byShare) }))
      try {
        return await decide(own, options, async (program, states, args) => {
          const indexes = new Map<string, number>()
          for (const [index, { name }] of states.entries()) indexes.set(name, index + 1)
          const guard = [0, view.run, view.begins, view.shiftedAt, options.now ?? 0]
          for (const { known, name } of cells) {
            const { n, m, burst } = known.limit.plan as BucketPlan
            if (known.holds) guard.push(indexes.get(name) as number, known.change, n, m, burst, known.settled)
            else guard.push(1, known.change, 0, 0, 0, 0)
          }
          const all = [...addressesOf(states), keys.region[0], ...cells.map(({ id }) => keys.rowsOf(id))]
          const reply = await send(await guarded(program, view.run, options), all, [...args, JSON.stringify(guard)], options)
          if (Array.isArray(reply)) throw new Stale(reply as number[])
          return reply
        })
      } catch (error) {
        if (!(error instanceof Stale)) throw error
        if (error.cells.includes(0)) await first.refresh(options)
        else await Promise.all(error.cells.map((cell) => settle(cells[cell - 1], options)))
      }
    }
    throw new StoreFailure('contention', 'no', 'redis: the shares of the region keep changing')
  }
}

function firstShares(groups: readonly CallGroup[]): KnownShares | undefined {
  for (const { calls } of groups) {
    for (const { limit } of calls) {
      const shares = sharesOf(limit)
      if (shares !== undefined) return shares
    }
  }
  return undefined
}

/** A store that does not decide by shares. */
export function withoutShares(store: Store): Store {
  return {
    ...store,
    decide: async (groups, options) => {
      if (!groups.some(({ calls }) => hasShares(calls))) return store.decide(groups, options)
      throw new StoreFailure('unavailable', 'no', 'redis: an algorithm without a program cannot be in a group with a share of a region')
    },
  }
}

async function settle(cell: Cell | undefined, options: DecideOptions): Promise<void> {
  await cell?.shares.settle(cell.id, options)
}

/** Finds the shares of calls, and lists the cells of which they are. */
function createByShare(cells: Cell[]): (call: Call) => Call {
  const found = new Map<string, Cell>()
  let last: Cell | undefined
  return (call) => {
    const shares = sharesOf(call.limit)
    if (shares === undefined) return call
    // On a busy key most calls are of the key of the call before.
    if (last === undefined || last.id.key !== call.id.key || last.id.scope !== call.id.scope || last.shares !== shares) {
      const { name } = namedOf(call.id)
      last = found.get(name)
      if (last?.shares !== shares) {
        last = { id: call.id, name, shares, known: shares.shareOf(call.id) }
        cells.push(last)
        found.set(name, last)
      }
    }
    const { limit, holds } = last.known
    if (holds) return { id: call.id, limit, cost: call.cost, phase: call.phase }
    // Where the region holds nothing, a call that never passes, on a state that is never written.
    const id = { scope: { text: `none:${call.id.scope.text}` }, key: call.id.key }
    return { id, limit, cost: 2 * (limit.plan as BucketPlan).burst, phase: call.phase }
  }
}

/** Makes programs that run only in one run of the server: texts that a server of another run does not know. */
function createGuarded(send: SendKeys) {
  let known: { readonly run: string; readonly programs: Map<string, Promise<Loadable>> } | undefined
  return async (program: Program, run: string, options: DecideOptions): Promise<Loadable> => {
    if (known?.run !== run) known = { run, programs: new Map() }
    const { programs } = known
    const made = programs.get(program.sha1)
    if (made !== undefined) return made
    const source = (): string => `-- ${run}\n${guardProgram.source()}${program.source()}`
    const making = send(digestProgram, [], [source()], options).then((digest): Loadable => {
      return { sha1: new TextDecoder().decode(digest as Uint8Array), source, whenLoading: comparingRun }
    })
    programs.set(program.sha1, making)
    making.catch(() => programs.delete(program.sha1))
    return making
  }
}

function comparingRun(args: readonly (string | number)[]): readonly (string | number)[] {
  return [...args.slice(0, -1), String(args.at(-1)).replace('[0', '[1')]
}
