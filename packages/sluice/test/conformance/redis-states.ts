import { stateName } from '../../src/keys/encode.ts'
import { decodeBucket } from '../../src/stores/redis/value.ts'
import type { StateId } from '../../src/stores/store.ts'
import type { StoreSuiteOptions } from '../../src/testing/index.ts'

/** What the suite needs besides the store: states as Redis holds them, read by a client of its own. */
export function redisStates(
  prefix: string,
  reader: { getBuffer(key: string): Promise<Uint8Array | null> },
): Pick<StoreSuiteOptions, 'algorithms' | 'readState'> {
  return {
    algorithms: ['tb'],
    readState: async (id: StateId) => decodeBucket(await reader.getBuffer(prefix + stateName(id))),
  }
}
