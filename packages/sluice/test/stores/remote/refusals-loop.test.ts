import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { remoteStore, type RemoteStoreOptions } from '../../../src/stores/remote/remote-store.ts'
import { type Store, StoreFailure } from '../../../src/stores/store.ts'
import { systemTime } from '../../../src/time/system.ts'
import { farStore } from './far-store.ts'
import { group } from './ring-bench.ts'

const CALLERS = 8
/** Far more than are refused within a turn of the loop. */
const MANY = 100_000

/** Runs callers that call again as soon as they are answered, until a timer has run or too many calls were made. */
async function callUntilTimer(store: Store): Promise<{ ran: boolean; calls: number }> {
  const seen = { ran: false, calls: 0 }
  setTimeout(() => (seen.ran = true), 5)
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (!seen.ran && seen.calls < MANY) {
        seen.calls += 1
        await store.decide([group('k')])
      }
    }),
  )
  return seen
}

describe('callers that are refused at once and call again', () => {
  const far = farStore(memoryStore(), systemTime)
  const ring = (decide: Store['decide'], options: RemoteStoreOptions): Store => remoteStore({ ...far, decide }, options)

  it('let the loop turn while a breaker is open', async () => {
    const store = ring(() => Promise.reject(new StoreFailure('timeout', 'unknown', 'gone')), { breaker: { probeMs: 60_000 } })
    for (let index = 0; index < 3; index += 1) await store.decide([group('k')])
    expect(await callUntilTimer(store)).toEqual({ ran: true, calls: expect.any(Number) })
    await store.close()
  })

  it('let the loop turn where there is no room to wait', async () => {
    const pending = ring(() => new Promise(() => {}), { deadline: 100, batching: { maxQueued: 1 } })
    void pending.decide([group('k')])
    await Promise.resolve()
    void pending.decide([group('k')])
    expect(await callUntilTimer(pending)).toEqual({ ran: true, calls: expect.any(Number) })
  })
})
