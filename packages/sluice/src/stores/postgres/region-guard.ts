import { type SharesUsed, StaleShares } from '../by-shares.ts'
import { arrayText, digestOf, planIdText, type Request } from './encode.ts'

/** The arguments of `guard` after the time and whether it locks. */
export function guardValues({ states, ids }: Request, { view, cells }: SharesUsed): readonly string[] {
  const indexes = new Map(states.map(({ name }, index) => [name, index + 1]))
  const lists = [
    cells.map(({ id }) => digestOf(id)),
    cells.map(({ known }) => known.change),
    cells.map(({ known, name }) => (known.holds ? (indexes.get(name) as number) : 0)),
    cells.map(({ known }) => planIdText(known.limit)),
    cells.map(({ known }) => known.settled),
  ]
  return [arrayText(ids), view.begins, String(view.shiftedAt), ...lists.map(arrayText)]
}

/** @throws StaleShares if the guard did not let the function decide */
export function throwIfStale(reply: unknown): void {
  const cells = typeof reply === 'string' ? /^stale ([\d,]+)$/.exec(reply)?.[1] : undefined
  if (cells !== undefined) throw new StaleShares(cells.split(',').map(Number))
}
