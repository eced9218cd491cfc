import { alikeCells, comparedCalls, type ShareCall, type SharesUsed, StaleShares } from '../by-shares.ts'
import { stateName } from '../region-port.ts'
import type { Call } from '../store.ts'
import { arrayText, digestOf, planIdText, type Request } from './encode.ts'
import type { Statements } from './statements.ts'

export interface Guarded {
  readonly statement: keyof Statements
  /** Whether the SQL function `guard` locks the rows first. */
  readonly locked: boolean
  values(waiting: string): readonly string[]
}

/** @param locks false for a peek */
export function guarded(request: Request, used: SharesUsed, now: string, locks: boolean): Guarded {
  const { states } = request
  const { view } = used
  const program = request.program === 'reserve' ? 'consume' : request.program
  const alike = program === 'consume' ? undefined : alikeCells(states, used)
  if (program !== 'consume' && alike !== undefined) {
    // `bucket` and `buckets` compare the shares themselves, without `guard`.
    const known = states.map(({ first }) => (first as ShareCall).known.change)
    const changes = program === 'bucket' ? String(known[0]) : arrayText(known)
    const more = [...recordOf(used), changes, String(view.shiftedAt), String(alike.settled)]
    return { statement: `shared_${program}`, locked: false, values: (waiting) => [...request.values(waiting), ...more] }
  }
  const guard = guardValues(request, used, now, locks)
  return { statement: `guarded_${program}`, locked: program === 'consume', values: (waiting) => [...guard, ...request.values(waiting)] }
}

/** Each state with the first call that names it, and the ids of the states' rows. */
export type ComparedStates = Pick<Request, 'ids'> & { readonly states: readonly { readonly name: string; readonly first: Call }[] }

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

/** A mark that names the present life of the server's data, and the number of the last change of the region's record. */
function recordOf({ view }: SharesUsed): readonly string[] {
  return view.begins.split(' ', 2)
}

/** @throws StaleShares if this process used outdated shares; nothing was decided then */
export function throwIfStale(reply: unknown, { states }: Pick<ComparedStates, 'states'>, used: SharesUsed): void {
  const cells = typeof reply === 'string' ? /^stale ([\d,]+)$/.exec(reply)?.[1] : undefined
  if (cells !== undefined) throw new StaleShares(cells.split(',').map(Number), () => comparedCalls(states, used))
}
