import { describe, expect, it } from 'vitest'
import { createLimiter } from '../../../src/create-limiter.ts'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type Call, type GroupVerdict, type Store, StoreFailure } from '../../../src/stores/store.ts'
import { resilient, type ResilientOptions, withDividedLimit } from '../../../src/stores/wrap/index.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { heldStore, settle } from './held-store.ts'
import { leasingStore } from './leasing-store.ts'

const limit = tokenBucket({ rate: '1/h', burst: 100 })
const scope = { text: 'r:tb:' }
const call = (key: string, cost = 1): Call => ({ id: { scope, key }, limit, cost: cost * 1_000_000, phase: 0 })

function bench(options: ResilientOptions = {}) {
  const clock = manualClock()
  const inner = leasingStore(clock)
  const held = heldStore(clock, inner)
  const store = resilient(held.store, { clock, warmUp: false, ...options })
  const ask = (key: string, cost = 1): Promise<readonly GroupVerdict[]> => store.consume([{ calls: [call(key, cost)] }])
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    await held.answerAll()
    return answer
  }
  return { clock, inner, ...held, store, ask, answered }
}

describe('resilient', () => {
  it('joins what is asked together, and gives it a deadline', async () => {
    const { ask, calls, answerAll } = bench()
    const answers = [ask('a'), ask('b')]
    await settle()
    expect(calls).toMatchObject([{ keys: ['a', 'b'], options: { deadline: 50 } }])
    await answerAll()
    expect((await Promise.all(answers)).flat().map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed'])
  })

  it('does not ask again for what was denied, and learns of a reset', async () => {
    const { ask, answered, calls, store } = bench()
    await answered(ask('k', 100))
    await answered(ask('k'))
    expect((await ask('k'))[0]?.source).toBe('denied-cache')
    expect(calls).toEqual([])
    await answered(store.reset([call('k').id]))
    expect((await answered(ask('k')))[0]).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it('X7: asks a store that fails again and again without a breaker', async () => {
    const { ask, calls, store } = bench({ breaker: false })
    for (let turn = 0; turn < 100; turn += 1) {
      const asked = ask('k').catch(({ kind }: StoreFailure) => kind)
      await settle()
      const [sent, ...others] = calls.splice(0)
      expect(others).toEqual([])
      await sent?.fail(new StoreFailure('connection', 'no', 'away'))
      expect(await asked).toBe('connection')
    }
    expect(store.breakerState).toBe('closed')
  })

  it('leases only where it is told to, and settles when it is closed', async () => {
    const without = bench()
    for (let index = 0; index < 20; index += 1) await without.answered(without.ask('k'))
    expect([without.inner.asked.lease, without.store.tokensInHand]).toEqual([0, 0])
    const { ask, answered, store, inner } = bench({ leases: { afterCalls: 1 } })
    expect((await answered(ask('k')))[0]?.source).toBe('lease')
    expect(store.tokensInHand).toBe(7)
    await answered(store.close())
    expect([store.tokensInHand, inner.stateOf(call('k').id)]).toEqual([
      0,
      expect.not.objectContaining({ leases: expect.anything() as unknown }),
    ])
  })

  it('stops asking a store that does not answer, and what stands in says so', async () => {
    const local = withDividedLimit(memoryStore(), 4)
    const { ask, answerAll, clock, store, calls } = bench({ fallback: { policy: 'local', local } })
    const lost = [ask('a'), ask('b'), ask('c')]
    await settle()
    clock.advance(50)
    const verdicts = (await Promise.all(lost)).flat()
    expect(verdicts.map(({ degraded, nodes, source }) => [degraded?.kind, degraded?.executed, nodes, source])).toEqual(
      Array.from({ length: 3 }, () => ['timeout', 'unknown', 4, 'fallback']),
    )
    expect(store.breakerState).toBe('open')
    const sent = calls.length
    expect((await ask('d'))[0]).toMatchObject({ outcome: 'allowed', source: 'fallback', degraded: { kind: 'unavailable', executed: 'no' } })
    expect(calls).toHaveLength(sent)
    await answerAll()
    await store.close()
  })

  it('is left to the policy of a limiter where it has no fallback of its own', async () => {
    const { store, clock, answerAll } = bench({ breaker: false })
    const limiter = createLimiter({ limit, store, clock, onStoreFailure: 'allow' })
    // Two travel together, and their time is kept by the wrapper; one alone is the store's to settle.
    const [undecided] = [limiter.check('k'), limiter.check('other')]
    await settle()
    clock.advance(50)
    expect(await undecided).toMatchObject({ outcome: 'undecided', allowed: true, degraded: { kind: 'timeout' } })
    const decided = limiter.check('k')
    await answerAll()
    expect(await decided).toMatchObject({ outcome: 'allowed' })
  })

  it('leaves out what it is told to leave out', async () => {
    const { ask, calls, answerAll, store } = bench({ coalescing: false, breaker: false, deniedCache: false })
    const answers = [ask('a'), ask('b')]
    await settle()
    expect(calls.map(({ keys }) => keys)).toEqual([['a'], ['b']])
    await answerAll()
    await Promise.all(answers)
    expect([store.breakerState, store.tokensInHand]).toEqual(['closed', 0])
  })

  it('leaves a store in this process as it is but for the fallback', async () => {
    const store: Store = resilient(memoryStore({ maxKeys: 1 }), { fallback: { policy: 'allow', local: memoryStore() } })
    expect(store.consumeSync?.({ calls: [call('a')] })).toMatchObject({ outcome: 'allowed', source: 'store' })
    expect(store.consumeSync?.({ calls: [call('b')] })).toMatchObject({
      outcome: 'undecided',
      allowed: true,
      degraded: expect.any(StoreFailure) as unknown,
    })
  })

  it('refuses options that it or a wrapper does not know', () => {
    expect(() => resilient(memoryStore(), { retries: 3 } as ResilientOptions)).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
    expect(() => bench({ leases: { share: 2 } })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }))
  })
})
