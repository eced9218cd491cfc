import { type Adjustment, type ChangeRun, inRuns } from '../batch/change-runs.ts'
import { validated } from '../batch/replay.ts'
import { type CallOptions, type Change, changedState, type HoldChange, isOfHold, type StateId, type Store } from '../store.ts'
import { adjustmentArgument, hasProgram } from './encode.ts'
import { NEWER } from './failures.ts'
import { heldStates, holdResults, holdsArgument, type Release, releasesArgument } from './holds.ts'
import { calledOf, type Named, namedOf } from './layout.ts'
import { adjustProgram, blockProgram, holdsProgram, type Program, releaseProgram } from './programs.gen.ts'

/** Rejects with StoreFailure. */
export type SendProgram = (
  program: Program,
  states: readonly Named[],
  args: readonly (string | number)[],
  options: CallOptions | undefined,
) => Promise<unknown>

/** Passed to block.lua as the length of a block: deletes the state, but keeps its block. */
export const FORGET = -1

export function changing(send: SendProgram): Store['change'] {
  return (changes, options) =>
    inRuns(changes, async (run) => {
      if (areOfHolds(run)) {
        const ended = await send(holdsProgram, heldStates(run), [holdsArgument(run, options?.now ?? 0)], options)
        return validated('redis: the program', ended, () => holdResults(run, ended))
      }
      const reply = await sendRun(send, run, options)
      // Indexes, from 1, of states that a newer version of Sluice wrote.
      const newer = Array.isArray(reply) ? reply.map(Number) : []
      return run.map((_, index) => (newer.includes(index + 1) ? { failure: NEWER } : {}))
    })
}

/** @param length microseconds; 0 ends the blocks; `FORGET` deletes the states */
export function marking(send: SendProgram, ids: readonly StateId[], length: number, options: CallOptions | undefined): Promise<unknown> {
  return send(blockProgram, ids.map(namedOf), [`[${options?.now ?? 0},${length}]`], options)
}

export function isProgrammed(change: Change): boolean {
  if (isOfHold(change)) return change.calls.every(({ limit }) => hasProgram(limit))
  return (change.kind !== 'adjust' && change.kind !== 'release') || hasProgram(change.call.limit)
}

/** All changes of a run have one kind. */
function areOfHolds(run: ChangeRun): run is readonly HoldChange[] {
  return run[0] !== undefined && isOfHold(run[0])
}

function sendRun(send: SendProgram, run: readonly Change[], options: CallOptions | undefined): Promise<unknown> {
  const [first] = run as readonly [Change]
  if (first.kind === 'release') {
    const releases = run as readonly Release[]
    const held = releases.map(({ call }) => calledOf(call))
    return send(releaseProgram, held, [releasesArgument(releases, options?.now ?? 0)], options)
  }
  if (first.kind !== 'adjust') {
    const length = first.kind === 'block' ? first.micros : first.kind === 'reset' ? FORGET : 0
    return marking(send, run.map(changedState), length, options)
  }
  const adjustments = run as readonly Adjustment[]
  const states = adjustments.map(({ call }) => calledOf(call))
  return send(adjustProgram, states, [adjustmentArgument(adjustments, options?.now ?? 0)], options)
}
