import { stateName } from '../../../src/keys/encode.ts'
import { compareAndSwapStore } from '../../../src/stores/families/compare-and-swap.ts'
import { storeSuite } from '../../../src/testing.ts'
import { seeded } from '../../../src/testing/random.ts'
import { systemTime } from '../../../src/time/system.ts'
import { draws } from '../../draws.ts'
import { memoryBackend } from './memory-backend.ts'

const backend = memoryBackend()
const random = seeded(11)

storeSuite('compare-and-swap on a map whose rows change under a third of the writes', {
  open: async () => {
    backend.beforeWrite = (writes) => {
      const [write] = writes
      const row = write === undefined || random() > 1 / 3 ? undefined : backend.rows.get(write.id)
      // Somebody else has written the same state again.
      if (write !== undefined && row !== undefined) backend.rows.set(write.id, { ...row, version: `other ${random()}` })
    }
    // Conflicts cost no time.
    return compareAndSwapStore(backend, { clock: { ...systemTime, after: (_, fn) => systemTime.after(0, fn) }, random })
  },
  differentialCalls: draws(50_000, 1_000),
  readState: async (id) => {
    const numbers = backend.rows.get(stateName(id))?.numbers
    return numbers?.length === 0 ? undefined : numbers
  },
})
