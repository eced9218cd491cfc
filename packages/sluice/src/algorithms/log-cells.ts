import type { CellBounds, Cells } from './algorithm.ts'
import { Arena } from './log-arena.ts'
import { Ring, RING_WIDTH, sizeAt } from './log-ring.ts'
import type { LogState } from './log-state.ts'

/** Keeps entries in ring buffers outside of the table, at most `maxBytes` in all. A row says where its ring buffer is. */
export function logCells({ maxBytes }: Pick<CellBounds, 'maxBytes'>): Cells<LogState> {
  const arena = new Arena()
  const scratch = new Ring(arena)
  return {
    width: RING_WIDTH,
    save(state, cells, at) {
      const isNew = sizeAt(cells, at) === -1
      // A state that was read from this row changes its ring in place.
      const ring = state.entries instanceof Ring && !isNew ? state.entries : scratch
      if (isNew) ring.create()
      else if (ring === scratch) ring.load(cells, at)
      ring.apply(state)
      ring.save(cells, at)
    },
    load(_sample, cells, at, into) {
      const ring = into.entries instanceof Ring ? into.entries : new Ring(arena)
      ring.load(cells, at)
      into.entries = ring
      into.skip = 0
      into.addedAt = 0
      into.added = 0
      into.merges = false
      into.window = ring.window
      into.keepFor = ring.keepFor
    },
    samePlan: () => true,
    planNumbers: () => [],
    fits({ entries, skip, added, merges }, cells, at) {
      const held = at < 0 ? 0 : Arena.bytesOf(sizeAt(cells, at))
      const needed = Arena.bytesOf(Arena.sizeFor(entries.length - skip + (added > 0 && !merges ? 1 : 0)))
      return arena.bytes + Math.max(0, needed - held) <= maxBytes
    },
    release: (cells, at) => arena.giveBack(cells[at] as number, sizeAt(cells, at)),
  }
}
