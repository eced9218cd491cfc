import { stateName } from '../../../src/keys/encode.ts'
import type { SwapBackend, SwapRow, SwapWrite } from '../../../src/stores/families/compare-and-swap.ts'
import { StoreFailure } from '../../../src/stores/store.ts'
import { systemTime } from '../../../src/time/system.ts'
import type { Time } from '../../../src/time/time.ts'

export interface MemoryBackend extends SwapBackend {
  readonly rows: Map<string, SwapRow>
  /** How often rows were read and written. */
  readonly made: { reads: number; writes: number }
  /** Called before each write. A test can change rows here, as another process would between a read and a write. */
  beforeWrite: (writes: readonly SwapWrite[]) => void
}

/** A map of rows: the least that a backend is. */
export function memoryBackend(clock: Time = systemTime): MemoryBackend {
  const rows = new Map<string, SwapRow>()
  const made = { reads: 0, writes: 0 }
  const backend: MemoryBackend = {
    name: 'map',
    clock: 'caller',
    rows,
    made,
    beforeWrite: () => {},
    idOf: stateName,
    read: async (ids) => {
      made.reads += 1
      const found = ids.flatMap((id): [string, SwapRow][] => (rows.has(id) ? [[id, rows.get(id) as SwapRow]] : []))
      return { rows: new Map(found), now: clock.now() }
    },
    write: async (writes) => {
      backend.beforeWrite(writes)
      if (writes.some(({ id, version }) => (rows.get(id)?.version ?? '0') !== version)) return false
      for (const { id, next, numbers, expiresAt, until } of writes) rows.set(id, { version: next, numbers, expiresAt, until })
      made.writes += 1
      return true
    },
    classify: (error) => new StoreFailure('connection', 'unknown', String(error)),
  }
  return backend
}
