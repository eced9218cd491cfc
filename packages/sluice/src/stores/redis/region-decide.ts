import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { HOLD_RECORDS, RECORD_COST } from '../../algorithms/hold-record.ts'
import type { BatchState } from '../batch/batch.ts'
import {
  alikeCells,
  comparedCalls,
  decideByShares,
  isAlike,
  type ShareCall,
  shareCall,
  type SharesUsed,
  StaleShares,
} from '../by-shares.ts'
import { validated } from '../batch/replay.ts'
import { changingByShares } from '../holds-by-shares.ts'
import { stateName } from '../region-port.ts'
import { nothingOf } from '../share-names.ts'
import type { Call, CallGroup, CallOptions, ChangeResult, DecideOptions, GroupVerdict, Store } from '../store.ts'
import { heldStates, holdResults, holdsArgument } from './holds.ts'
import type { Named } from './layout.ts'
import { bucketsProgram, digestProgram, guardProgram, holdsProgram, type Program } from './programs.gen.ts'
import type { RegionKeys, SendKeys } from './region-programs.ts'
import type { Loadable } from './run-program.ts'

export type SendBatch = (
  program: Program,
  states: readonly BatchState[],
  args: readonly (string | number)[],
  options: DecideOptions,
) => Promise<unknown>

/** @param guarded sends the batch with guard.lua; absent if no group has shares of a region */
export type Decide = (groups: readonly CallGroup[], options?: DecideOptions, guarded?: SendBatch) => Promise<readonly GroupVerdict[]>

/** `first` is the first call that names the state. */
type ComparedState = Named & { readonly first: Call }

/**
 * Runs a program after guard.lua, which compares the region's shares.
 * @throws StaleShares if these have changed
 */
type SendGuarded = (
  program: Program,
  states: readonly ComparedState[],
  args: readonly (string | number)[],
  used: SharesUsed,
  options: CallOptions | undefined,
) => Promise<unknown>

export function createSendGuarded(
  send: SendKeys,
  keys: RegionKeys,
  addressesOf: (states: readonly Named[]) => readonly string[],
): SendGuarded {
  const guarded = createGuarded(send)
  return async (program, states, args, used, options) => {
    const made = guarded(program, used.view.run, options)
    const guard = guardArguments(program, states, args, used, options?.now ?? 0)
    const all = [...addressesOf(states), keys.record]
    const reply = await send(made instanceof Promise ? await made : made, all, guard, options)
    if (Array.isArray(reply)) throw new StaleShares(reply.map(Number), () => comparedCalls(states, used))
    return reply
  }
}

export function decideGuarded(decide: Decide, send: SendGuarded): Store['decide'] {
  const byShares = decideByShares('redis', (groups, used, options: DecideOptions) =>
    decide(groups, options, (program, states, args) => send(program, states, args, used, options)),
  )
  return (groups, options = {}) => byShares(groups, options)
}

export function changeGuarded(change: Store['change'], send: SendGuarded): Store['change'] {
  return changingByShares('redis', change, async (one, used, options) => {
    const record: Call = { id: one.id, limit: HOLD_RECORDS, cost: RECORD_COST, phase: 0 }
    const calls = [record, ...one.calls]
    const states = heldStates([one]).map((state, index) => ({ ...state, first: calls[index] as Call }))
    const reply = await send(holdsProgram, states, [holdsArgument([one], options?.now ?? 0)], used, options)
    return validated('redis: the program', reply, () => holdResults([one], reply))[0] as ChangeResult
  })
}

/** Flags in the last argument of guard.lua, which documents them. */
const [COMPARES, BRIEF] = [1, 2]

/** Those of the program, then those of guard.lua. */
function guardArguments(
  program: Program,
  states: readonly ComparedState[],
  args: readonly (string | number)[],
  used: SharesUsed,
  now: number,
): (string | number)[] {
  const { view, others } = used
  const guard = [...args, view.begins, view.shiftedAt]
  const brief = program === bucketsProgram ? alikeCells(states, used) : undefined
  if (brief === undefined) {
    guard.push(now)
    addRuns(guard, states, others)
  } else {
    guard.push(brief.settled)
    if (brief.haveRows) for (const { first } of states) guard.push(changeOf(first as ShareCall))
  }
  guard.push(4 * args.length + (brief === undefined ? 0 : BRIEF))
  return guard
}

/** Successive states with equal shares get one common set of arguments for guard.lua. */
function addRuns(guard: (string | number)[], states: readonly ComparedState[], others: readonly ShareCall[]): void {
  for (let at = 0; at < states.length;) {
    const call = shareCall((states[at] as ComparedState).first)
    let next = at + 1
    if (call !== undefined) {
      const run = [call]
      for (; next < states.length; next += 1) {
        const other = shareCall((states[next] as ComparedState).first)
        if (other === undefined || (other.known !== call.known && !isAlike(call.known, other.known))) break
        run.push(other)
      }
      addRun(guard, run, at)
    }
    at = next
  }
  for (const call of others) {
    const name = calledName(call)
    addRun(
      guard,
      [call],
      states.findIndex((state) => state.name === name),
    )
  }
}

/** @param first the index of the first call's state */
function addRun(guard: (string | number)[], run: readonly ShareCall[], first: number): void {
  const { known } = run[0] as ShareCall
  const { n, m, burst } = known.limit.plan as BucketPlan
  const haveRows = run.some(({ known: { change } }) => change > 0)
  guard.push(known.holds ? n : 0, m, burst, known.settled, first + 1, haveRows ? run.length : -run.length)
  if (haveRows) for (const call of run) guard.push(changeOf(call))
}

/** The beginning of the stored rows, which guard.lua compares: the number of their last change. 0 without rows. */
function changeOf({ known: { change } }: ShareCall): string | number {
  return change === 0 ? 0 : `${change} `
}

function calledName({ cell, known }: ShareCall): string {
  return known.holds ? stateName(cell) : nothingOf(stateName(cell))
}

/**
 * Puts the name of the server's run (one life of its data) before a program's text. A server in another run does not know this text. The
 * call that then sends the text also makes guard.lua compare the run.
 */
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
  return [...args.slice(0, -1), Number(args.at(-1)) + COMPARES]
}
