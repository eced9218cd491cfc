import { type Adjustment, inRuns } from '../batch/change-runs.ts'
import { type CallOptions, type Change, changedState, type StateId, type Store } from '../store.ts'
import { adjustmentArgument } from './encode.ts'
import { NEWER } from './failures.ts'
import { calledOf, type Named, namedOf } from './layout.ts'
import { adjustProgram, blockProgram, type Program } from './programs.gen.ts'

/** Runs a program on states; rejects with StoreFailure. */
export type SendProgram = (
  program: Program,
  states: readonly Named[],
  args: readonly (string | number)[],
  options: CallOptions | undefined,
) => Promise<unknown>

/** What block.lua takes for a length to delete a state; 0 ends its block. */
export const FORGET = -1

/** The store's `change`: one program call for each run of neighbouring changes that one call can make, in order. */
export function changing(send: SendProgram): Store['change'] {
  return (changes, options) =>
    inRuns(changes, async (run) => {
      const reply = await sendRun(send, run, options)
      // The indexes, from 1, of states of a newer version, of which nothing was changed.
      const newer = Array.isArray(reply) ? reply.map(Number) : []
      return run.map((_, index) => (newer.includes(index + 1) ? { failure: NEWER } : {}))
    })
}

/** Sets the blocks of states, which end after so many microseconds, or deletes states (`FORGET`). */
export function marking(send: SendProgram, ids: readonly StateId[], length: number, options: CallOptions | undefined): Promise<unknown> {
  return send(blockProgram, ids.map(namedOf), [`[${options?.now ?? 0},${length}]`], options)
}

function sendRun(send: SendProgram, run: readonly Change[], options: CallOptions | undefined): Promise<unknown> {
  const [first] = run as readonly [Change]
  if (first.kind !== 'adjust') {
    const length = first.kind === 'block' ? first.micros : first.kind === 'reset' ? FORGET : 0
    return marking(send, run.map(changedState), length, options)
  }
  const adjustments = run as readonly Adjustment[]
  const states = adjustments.map(({ call }) => calledOf(call))
  return send(adjustProgram, states, [adjustmentArgument(adjustments, options?.now ?? 0)], options)
}
