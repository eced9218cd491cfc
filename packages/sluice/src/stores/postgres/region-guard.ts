import { alikeCells, comparedCalls, type ShareCall, type SharesUsed, StaleShares } from '../by-shares.ts'
import { stateName } from '../region-port.ts'
import type { Call } from '../store.ts'
import { arrayText, digestOf, planIdText, type Request } from './encode.ts'
import type { Statements } from './statements.ts'

/** The statement that decides a request by the parts of limits (shares) that a region holds, and the statement's parameters. */
export interface Guarded {
  readonly statement: keyof Statements
  /** Whether the SQL function `guard` has locked the rows before the function that decides is called. */
  readonly locked: boolean
  values(waiting: string): readonly string[]
}

/** @param locks whether the guard locks the rows, because the call charges */
export function guarded(request: Request, used: SharesUsed, now: string, locks: boolean): Guarded {
  const { states } = request
  const { view } = used
  const program = request.program === 'reserve' ? 'consume' : request.program
  const alike = program === 'consume' ? undefined : alikeCells(states, used)
  if (program !== 'consume' && alike !== undefined) {
    // `bucket` and `buckets`, the functions for busy keys, compare the shares themselves, without a call of `guard`.
    const known = states.map(({ first }) => (first as ShareCall).known.change)
    const changes = program === 'bucket' ? String(known[0]) : arrayText(known)
    const more = [...recordOf(used), changes, String(view.shiftedAt), String(alike.settled)]
    return { statement: `shared_${program}`, locked: false, values: (waiting) => [...request.values(waiting), ...more] }
  }
  const guard = guardValues(request, used, now, locks)
  return { statement: `guarded_${program}`, locked: program === 'consume', values: (waiting) => [...guard, ...request.values(waiting)] }
}

/** The states that a statement decides: of each its name and the first of the statement's calls to it; and the ids of their rows. */
export type ComparedStates = Pick<Request, 'ids'> & { readonly states: readonly { readonly name: string; readonly first: Call }[] }

/** The arguments of the SQL function `guard`. @param locks whether it locks the rows, because the call charges */
export function guardValues({ states, ids }: ComparedStates, used: SharesUsed, now: string, locks: boolean): readonly string[] {
  const { view } = used
  const cells = comparedCalls(states, used)
  const indexes = new Map(states.map(({ name }, index) => [name, index + 1]))
  const lists = [
    cells.map(({ cell }) => digestOf(cell)),
    cells.map(({ known }) => known.change),
    cells.map(({ cell, known }) => (known.holds ? (indexes.get(stateName(cell)) as number) : 0)),
    cells.map(({ known }) => planIdText(known.limit)),
    cells.map(({ known }) => known.settled),
  ]
  return [now, String(locks), arrayText(ids), ...recordOf(used), String(view.shiftedAt), ...lists.map(arrayText)]
}

/**
 * The two texts with which the region's record begins: a random mark for the server's run (one life of its data), and the number of the
 * record's last change.
 */
function recordOf({ view }: SharesUsed): readonly string[] {
  return view.begins.split(' ', 2)
}

/** @throws StaleShares if the SQL function `guard` found other shares than this process has used, so that no group was decided */
export function throwIfStale(reply: unknown, { states }: Pick<ComparedStates, 'states'>, used: SharesUsed): void {
  const cells = typeof reply === 'string' ? /^stale ([\d,]+)$/.exec(reply)?.[1] : undefined
  if (cells !== undefined) throw new StaleShares(cells.split(',').map(Number), () => comparedCalls(states, used))
}
