import type { CellBounds, Cells } from './algorithm.ts'
import type { SlotState } from './slot-state.ts'

/** Estimated bytes of an object in `states`, without the list `holders`, which has eight bytes for each number. */
const OVERHEAD_BYTES = 120

export function slotCells({ maxBytes }: Pick<CellBounds, 'maxBytes'>): Cells<SlotState> {
  const states: (SlotState | undefined)[] = [undefined]
  const free: number[] = []
  let bytes = 0
  const bytesOf = (state: SlotState | undefined): number => (state === undefined ? 0 : OVERHEAD_BYTES + 8 * state.holders.length)
  return {
    width: 1,
    save({ holders, seen, last }, cells, at) {
      const index = cells[at] === 0 ? (free.pop() ?? states.length) : (cells[at] as number)
      // Lists of holders are never modified, so this one need not be copied.
      const kept = { holders, seen, last }
      bytes += bytesOf(kept) - bytesOf(states[index])
      states[index] = kept
      cells[at] = index
    },
    load(_sample, cells, at, into) {
      const { holders, seen, last } = states[cells[at] as number] as SlotState
      into.holders = holders
      into.seen = seen
      into.last = last
    },
    samePlan: () => true,
    planNumbers: () => [],
    fits: (state, cells, at) => bytes + bytesOf(state) - (at < 0 ? 0 : bytesOf(states[cells[at] as number])) <= maxBytes,
    release(cells, at) {
      const index = cells[at] as number
      bytes -= bytesOf(states[index])
      states[index] = undefined
      free.push(index)
    },
  }
}
