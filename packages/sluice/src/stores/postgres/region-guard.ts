import { type ShareCell, type SharesUsed, StaleShares } from '../by-shares.ts'
import { arrayText, digestOf, planIdText, type Request } from './encode.ts'

/** The arguments of `guard`, or of `guard_one` where `bucket` decides. @param locks whether the call charges */
export function guardValues(
  { program, states, ids }: Request,
  { view, cells }: SharesUsed,
  now: string,
  locks: boolean,
): readonly string[] {
  const [only] = cells
  if (program === 'bucket' && only !== undefined) {
    const { id, known } = only
    const share = known.holds ? planIdText(known.limit) : '0'
    return [now, ids[0] as string, view.begins, String(view.shiftedAt), digestOf(id), String(known.change), share, String(known.settled)]
  }
  const indexes = new Map(states.map(({ name }, index) => [name, index + 1]))
  return listValues(ids, { view, cells }, now, locks, ({ name }) => indexes.get(name) as number)
}

/** The arguments of `guard` before the settlement of a hold, which locks rows. @param ids of its states, in order */
export function settleGuardValues(ids: readonly string[], used: SharesUsed, now: string): readonly string[] {
  return listValues(ids, used, now, true, ({ id }) => ids.indexOf(digestOf(id)) + 1)
}

function listValues(
  ids: readonly string[],
  { view, cells }: SharesUsed,
  now: string,
  locks: boolean,
  indexOf: (cell: ShareCell) => number,
): readonly string[] {
  const lists = [
    cells.map(({ id }) => digestOf(id)),
    cells.map(({ known }) => known.change),
    cells.map((cell) => (cell.known.holds ? indexOf(cell) : 0)),
    cells.map(({ known }) => planIdText(known.limit)),
    cells.map(({ known }) => known.settled),
  ]
  return [now, String(locks), arrayText(ids), view.begins, String(view.shiftedAt), ...lists.map(arrayText)]
}

/** @throws StaleShares if the guard did not let the function decide */
export function throwIfStale(reply: unknown): void {
  const cells = typeof reply === 'string' ? /^stale ([\d,]+)$/.exec(reply)?.[1] : undefined
  if (cells !== undefined) throw new StaleShares(cells.split(',').map(Number))
}
