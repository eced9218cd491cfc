import { createLimiter, memoryStore } from 'sluice'
import { type AlgorithmName, limitOf } from './algorithms-lanes.ts'
import { heldBytes } from './held-bytes.ts'
import { keysOf } from './many-keys.ts'

export interface AlgorithmHoldInput {
  readonly algorithm: AlgorithmName
  readonly keys: number
  /** Charges of every key. They are made in rounds over all keys, so each charge of a key has another instant and a log keeps each one. */
  readonly charges: number
}

export interface AlgorithmHoldResult {
  /** Heap and external memory for each key after a collection, without the texts of the keys. */
  readonly bytesPerKey: number
  readonly allowed: number
}

/** A `maxBytes` so large that the bound on the entries of logs has no effect. */
const PLENTY = 2 ** 31

/** Charges every key this often within one day, and measures the memory that the store then uses. */
export async function holdAlgorithm({ algorithm, keys: count, charges }: AlgorithmHoldInput): Promise<AlgorithmHoldResult> {
  const keys = keysOf(count)
  const before = await heldBytes()
  const store = memoryStore({ maxKeys: count, maxBytes: PLENTY })
  const limiter = createLimiter({ name: 'held', limit: limitOf(algorithm, charges, '1d'), store })
  let allowed = 0
  for (let charge = 0; charge < charges; charge += 1) for (const key of keys) if (limiter.checkSync(key).allowed) allowed += 1
  const bytesPerKey = ((await heldBytes()) - before) / count
  // Uses the store and the keys after the measurement, so that they are not collected before.
  if (store.size !== keys.length) throw new Error(`${algorithm}: ${store.size} states of ${count} keys`)
  return { bytesPerKey, allowed }
}
