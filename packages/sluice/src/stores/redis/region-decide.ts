import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import type { BatchState } from '../batch/batch.ts'
import { decideByShares, StaleShares } from '../by-shares.ts'
import type { CallGroup, DecideOptions, GroupVerdict } from '../store.ts'
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

/** Decides groups by the shares that a region holds: the program of the store, after the guard. */
export function decideGuarded(
  decide: Decide,
  send: SendKeys,
  keys: RegionKeys,
  addressesOf: (states: readonly BatchState[]) => readonly string[],
): (groups: readonly CallGroup[], options: DecideOptions) => Promise<readonly GroupVerdict[]> {
  const guarded = createGuarded(send)
  return decideByShares('redis', (groups, { view, cells }, options: DecideOptions) =>
    decide(groups, options, async (program, states, args) => {
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
      if (Array.isArray(reply)) throw new StaleShares(reply as number[])
      return reply
    }),
  )
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
