import { memoryStore } from 'sluice'
import { regionalStore, type ReplicatorStatus } from 'sluice/regions'
import { describe, expect, it } from 'vitest'
import { beginEra } from '../src/regions/begin-era.ts'

describe('a change of weights that the store refuses', () => {
  it.each([
    ['learning', { us: 500, eu: 500 }, 'No era can end now: region us is learning. Try again when it is open.'],
    ['open', { us: 500, eu: 500 }, 'No era can end now: region us changed its phase meanwhile. Try again.'],
    ['open', { eu: 1_000 }, 'No era can end now: region us is not a member. Call the service of another region.'],
  ] as const)('is answered with what to do: %s, %j', async (phase, weights, message) => {
    // The store has just started, so it refuses.
    const store = regionalStore({ store: memoryStore(), self: 'us', peers: ['eu'], mode: 'escrow' })
    const peers = { eu: { lagMs: 0, readMs: 0 } }
    const status = { self: 'us', phase, era: 1, weights, peers } as unknown as ReplicatorStatus
    await expect(beginEra(store, { weights: { us: 1_000 } }, status)).rejects.toMatchObject({ status: 409, message })
  })
})
