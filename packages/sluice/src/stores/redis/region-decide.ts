import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { BatchState } from '../batch/batch.ts'
import { decideByShares, type ShareCell, type SharesUsed, StaleShares } from '../by-shares.ts'
import { nothingOf } from '../share-names.ts'
import { validated } from '../batch/replay.ts'
import { changingByShares } from '../holds-by-shares.ts'
import type { CallGroup, CallOptions, ChangeResult, DecideOptions, GroupVerdict, Store } from '../store.ts'
import { heldStates, holdResults, holdsArgument } from './holds.ts'
import type { Named } from './layout.ts'
import { digestProgram, guardProgram, holdsProgram, type Program } from './programs.gen.ts'
import type { RegionKeys, SendKeys } from './region-programs.ts'
import type { Loadable } from './run-program.ts'

export type SendBatch = (
  program: Program,
  states: readonly BatchState[],
  args: readonly (string | number)[],
  options: DecideOptions,
) => Promise<unknown>

type Decide = (groups: readonly CallGroup[], options: DecideOptions, send: SendBatch) => Promise<readonly GroupVerdict[]>

/** Runs a program on states, after the guard. @throws StaleShares */
type SendGuarded = (
  program: Program,
  states: readonly Named[],
  args: readonly (string | number)[],
  used: SharesUsed,
  options: CallOptions | undefined,
) => Promise<unknown>

/** @param addressesOf the keys of states */
export function createSendGuarded(
  send: SendKeys,
  keys: RegionKeys,
  addressesOf: (states: readonly Named[]) => readonly string[],
): SendGuarded {
  const guarded = createGuarded(send)
  return async (program, states, args, { view, cells }, options) => {
    const all = [...addressesOf(states), keys.record, keys.rows]
    const made = guarded(program, view.run, options)
    const guard = [...args, view.begins, view.shiftedAt, options?.now ?? 0]
    addRuns(guard, states, cells)
    guard.push(args.length)
    const reply = await send(made instanceof Promise ? await made : made, all, guard, options)
    if (Array.isArray(reply)) throw new StaleShares(reply as number[])
    return reply
  }
}

/** Decides groups by the shares that a region holds: the program of the store, after the guard. */
export function decideGuarded(
  decide: Decide,
  send: SendGuarded,
): (groups: readonly CallGroup[], options: DecideOptions) => Promise<readonly GroupVerdict[]> {
  return decideByShares('redis', (groups, used, options: DecideOptions) =>
    decide(groups, options, (program, states, args) => send(program, states, args, used, options)),
  )
}

/** The store's `change`: settlements of holds that charged shares are made by holds.lua, after the guard. */
export function changeGuarded(change: Store['change'], send: SendGuarded): Store['change'] {
  return changingByShares('redis', change, async (one, used, options) => {
    const reply = await send(holdsProgram, heldStates([one]), [holdsArgument([one], options?.now ?? 0)], used, options)
    return validated('redis: the program', reply, () => holdResults([one], reply))[0] as ChangeResult
  })
}

/** Adds the cells to the arguments of guard.lua. Those with successive states and equal shares are one run. */
function addRuns(guard: (string | number)[], states: readonly Named[], cells: SharesUsed['cells']): void {
  let indexes: Map<string, number> | undefined
  const indexOf = (name: string): number => {
    indexes ??= new Map(states.map((state, index) => [state.name, index]))
    return indexes.get(name) as number
  }
  for (let at = 0; at < cells.length;) {
    const cell = cells[at] as ShareCell
    const { known } = cell
    // Most often each state is a cell, and both are in the order of their calls.
    const name = calledName(cell)
    const first = states[at]?.name === name ? at : indexOf(name)
    let [next, haveRows] = [at + 1, known.change > 0]
    for (; next < cells.length; next += 1) {
      const { known: other } = cells[next] as ShareCell
      const isAlike = other === known || (other.limit === known.limit && other.settled === known.settled && other.holds === known.holds)
      if (!isAlike || states[first + next - at]?.name !== calledName(cells[next] as ShareCell)) break
      haveRows ||= other.change > 0
    }
    const { n, m, burst } = known.limit.plan as BucketPlan
    const count = next - at
    guard.push(known.holds ? n : 0, m, burst, known.settled, first + 1, haveRows ? count : -count)
    if (haveRows) for (const { known: own } of cells.slice(at, next)) guard.push(own.change === 0 ? 0 : `${own.change} `)
    at = next
  }
}

/** The name of the state of a call, as it is sent. */
function calledName({ known, name }: ShareCell): string {
  return known.holds ? name : nothingOf(name)
}

/** Makes programs that run only in one run of the server: texts that a server of another run does not know. */
function createGuarded(send: SendKeys) {
  let known: { readonly run: string; readonly programs: Map<string, Loadable | Promise<Loadable>> } | undefined
  return (program: Program, run: string, options: CallOptions | undefined): Loadable | Promise<Loadable> => {
    if (known?.run !== run) known = { run, programs: new Map() }
    const { programs } = known
    const made = programs.get(program.sha1)
    if (made !== undefined) return made
    const source = (): string => `-- ${run}\n${guardProgram.source()}${program.source()}`
    const making = send(digestProgram, [], [source()], options).then((digest): Loadable => {
      const loadable = { sha1: new TextDecoder().decode(digest as Uint8Array), source, whenLoading: comparingRun }
      programs.set(program.sha1, loadable)
      return loadable
    })
    programs.set(program.sha1, making)
    making.catch(() => programs.delete(program.sha1))
    return making
  }
}

function comparingRun(args: readonly (string | number)[]): readonly (string | number)[] {
  return [...args.slice(0, -1), -Number(args.at(-1))]
}
