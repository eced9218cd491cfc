import { createLimiter, memoryStore } from 'sluice'
import { type AlgorithmName, limitOf } from './algorithms-lanes.ts'
import { heldBytes } from './held-bytes.ts'
import { keysOf } from './many-keys.ts'

export interface AlgorithmHoldInput {
  readonly algorithm: AlgorithmName
  readonly keys: number
  /** Charges of every key, in rounds through all keys, so that each has an instant of its own: a log keeps them all. */
  readonly charges: number
}

export interface AlgorithmHoldResult {
  /** Heap and external memory after a collection, without the keys' own texts, per key. */
  readonly bytesPerKey: number
  readonly allowed: number
}

/** The bound on the entries of logs is not what is measured. */
const PLENTY = 2 ** 31

/** Charges every key so often within one day, and weighs what the store then holds. */
export async function holdAlgorithm({ algorithm, keys: count, charges }: AlgorithmHoldInput): Promise<AlgorithmHoldResult> {
  const keys = keysOf(count)
  const before = await heldBytes()
  const store = memoryStore({ maxKeys: count, maxBytes: PLENTY })
  const limiter = createLimiter({ name: 'held', limit: limitOf(algorithm, charges, '1d'), store })
  let allowed = 0
  for (let charge = 0; charge < charges; charge += 1) for (const key of keys) if (limiter.checkSync(key).allowed) allowed += 1
  const bytesPerKey = ((await heldBytes()) - before) / count
  // The store and the keys must outlive the weighing.
  if (store.size !== keys.length) throw new Error(`${algorithm}: ${store.size} states of ${count} keys`)
  return { bytesPerKey, allowed }
}
