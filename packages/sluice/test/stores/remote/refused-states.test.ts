import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type RemoteStore, withBreaker } from '../../../src/stores/remote/remote-store.ts'
import { type GroupVerdict, StoreFailure } from '../../../src/stores/store.ts'
import { type ManualClock, manualClock } from '../../../src/time/manual.ts'
import { farStore } from './far-store.ts'
import { settle } from './held-store.ts'
import { group, outcomeOf } from './ring-bench.ts'

/** What happens to the calls of a store: nothing, or each is rejected with this failure. */
interface Fault {
  failure: StoreFailure | undefined
}

interface Bench {
  readonly clock: ManualClock
  readonly fault: Fault
  /** Keys of states that a newer version wrote. The first is `newer`. */
  readonly refused: Set<string | undefined>
  readonly store: RemoteStore
  ask(key: string): Promise<string>
}

/** A store with a breaker that decides all keys but `broken`, of which it rejects batches, and those whose states a newer version wrote. */
function bench(): Bench {
  const clock = manualClock()
  const far = farStore(memoryStore({ clock }), clock)
  const fault: Fault = { failure: undefined }
  const refused = new Set<string | undefined>(['newer'])
  const store = withBreaker(
    {
      ...far,
      async decide(groups, options) {
        const keys = groups.map(({ calls }) => calls[0]?.id.key)
        if (fault.failure !== undefined) throw fault.failure
        if (keys.includes('broken')) throw new StoreFailure('protocol', 'unknown', 'not a state')
        const verdicts = await far.decide(groups, options)
        const newer = { failure: new StoreFailure('setup', 'no', 'a newer version wrote this state') }
        return verdicts.map((verdict, index) => (refused.has(keys[index]) ? newer : verdict))
      },
    },
    { clock, random: () => 1 },
  )
  return { clock, fault, refused, store, ask: async (key) => outcomeOf((await store.decide([group(key)]))[0] as GroupVerdict) }
}

describe('a state that the store refuses', () => {
  it('shows to a probe that the server works, if a newer version wrote the state after it was decided', async () => {
    const { ask, clock, fault, refused, store } = bench()
    await ask('good')
    refused.add('good')
    fault.failure = new StoreFailure('timeout', 'unknown', 'silent')
    for (let asked = 0; asked < 3; asked += 1) await ask('other')
    expect(store.breakerState).toBe('open')
    fault.failure = new StoreFailure('setup', 'no', 'no such table')
    clock.advance(250)
    await settle()
    expect(store.breakerState).toBe('open')
    fault.failure = undefined
    clock.advance(250)
    await settle()
    expect([store.breakerState, await ask('other'), store.breakerState]).toEqual(['half-open', 'allowed', 'closed'])
  })

  it('opens no breaker, however often it is called', async () => {
    const { ask, store } = bench()
    for (let asked = 0; asked < 10; asked += 1) expect(await ask('newer')).toBe('setup no')
    expect([store.breakerState, await ask('good')]).toEqual(['closed', 'allowed'])
  })

  it('differs from a server that refuses whole batches, such as one without the tables', async () => {
    const { ask, fault, store } = bench()
    fault.failure = new StoreFailure('setup', 'no', 'no such table')
    for (let asked = 0; asked < 3; asked += 1) await ask('good')
    expect(store.breakerState).toBe('open')
  })

  it('is not what the breaker probes with: that is a group that was decided', async () => {
    const { ask, clock, fault, store } = bench()
    await ask('good')
    fault.failure = new StoreFailure('timeout', 'unknown', 'silent')
    for (const key of ['good', 'newer', 'broken']) await ask(key)
    expect(store.breakerState).toBe('open')
    fault.failure = undefined
    clock.advance(250)
    await settle()
    expect([store.breakerState, await ask('good'), store.breakerState]).toEqual(['half-open', 'allowed', 'closed'])
  })

  it('is not what the breaker probes with if no group was decided: that is whether the store is ready', async () => {
    const { ask, clock, store } = bench()
    for (let asked = 0; asked < 3; asked += 1) await ask('broken')
    expect(store.breakerState).toBe('open')
    clock.advance(250)
    await settle()
    expect([store.breakerState, await ask('good'), store.breakerState]).toEqual(['half-open', 'allowed', 'closed'])
  })
})
