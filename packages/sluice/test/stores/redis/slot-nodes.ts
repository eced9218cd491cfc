import { expect } from 'vitest'
import { memoryStore, tokenBucket } from '../../../src/index.ts'
import type { AnyLimit } from '../../../src/algorithms/algorithm.ts'
import { bySlot } from '../../../src/stores/redis/slots.ts'
import { type Call, changedState, type StateId, type Store, StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'

export const START = 1_763_692_800_000_000
export const SCOPE = { text: 'slots:' }
export const MICRO = 1_000_000
/** The slot of a key is its first letter. */
export const slotOf = ({ key }: StateId): number => key.charCodeAt(0)
export const ten = tokenBucket({ rate: '10/s', burst: 10 })
export const five = tokenBucket({ rate: '5/s', burst: 5 })

interface Sent {
  readonly verb: string
  readonly keys: readonly string[]
}

/**
 * A store that refuses calls with keys of several slots, as a server of a Cluster would. It records every call that was sent, except peeks.
 */
export function nodes(failing: ReadonlySet<string> = new Set()): { store: Store; inner: Store; sent: Sent[] } {
  const memory = memoryStore()
  const sent: Sent[] = []
  const note = (verb: string, calls: readonly Pick<Call, 'id'>[]): void => {
    const keys = calls.map(({ id }) => id.key)
    if (verb !== 'peek') sent.push({ verb, keys })
    const slots = new Set(keys.map((key) => key[0]))
    expect(slots.size).toBe(1)
    for (const slot of slots) if (failing.has(`${verb}:${slot}`)) throw new StoreFailure('timeout', 'no', `${verb} at ${slot}`)
  }
  const inner: Store = {
    ...memory,
    decide: async (groups, options) => {
      note(
        options?.charge === false ? 'peek' : 'decide',
        groups.flatMap(({ calls }) => calls),
      )
      return memory.decide(groups, options)
    },
    change: async (changes, options) => {
      const kinds = [...new Set(changes.map(({ kind }) => kind))]
      try {
        note(
          kinds.join('+'),
          changes.map((change) => ({ id: changedState(change) })),
        )
      } catch (error) {
        return changes.map(() => ({ failure: error as StoreFailure }))
      }
      return memory.change(changes, options)
    },
  }
  return { store: bySlot(inner, slotOf), inner: memory, sent }
}

export function call(key: string, limit: AnyLimit = ten, cost = 1): Call {
  return { id: { scope: SCOPE, key }, limit, cost: cost * MICRO, phase: 0 }
}

export async function left(store: Store, key: string, limit: AnyLimit = ten, now = START): Promise<number | undefined> {
  const [verdict] = await verbs.peek(store, [{ calls: [call(key, limit)] }], { now })
  return verdict?.calls[0]?.remaining
}
