import { readValue } from '../../src/stores/redis/value.ts'
import type { StateId } from '../../src/stores/store.ts'
import type { StoreSuiteOptions } from '../../src/testing.ts'
import { plainName } from '../stores/redis/plain-name.ts'

/** Reads states as Redis holds them, with a client that is not the store's. */
export function redisStates(
  prefix: string,
  reader: { getBuffer(key: string): Promise<Uint8Array | null> },
): Pick<StoreSuiteOptions, 'readState'> {
  return { readState: async (id: StateId) => readValue(await reader.getBuffer(plainName(prefix, id))).numbers }
}
