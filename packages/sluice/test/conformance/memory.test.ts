import { tokenBucketKernel } from '../../src/algorithms/token-bucket.ts'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { storeSuite } from '../../src/testing/index.ts'

let store: MemoryStore

storeSuite('memory', {
  open: async () => (store = memoryStore()),
  readState: async (id) => {
    const state = store.stateOf(id)
    return state === undefined ? undefined : tokenBucketKernel.codec.encodeState(state as never)
  },
})
