import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { createLimiter } from '../../../src/create-limiter.ts'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import {
  type RemoteStore,
  remoteStore,
  type RemoteStoreOptions,
  resilient,
  withBreaker,
  withCoalescing,
  withDeniedCache,
  withLeases,
} from '../../../src/stores/remote/remote-store.ts'
import { type Store, StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { farStore } from './far-store.ts'
import { settle } from './held-store.ts'
import { call, gone, group, outcomeOf, ringBench } from './ring-bench.ts'

const RINGS: readonly (readonly [name: string, ring: (store: Store, options?: object) => RemoteStore])[] = [
  ['remoteStore', (store, options) => remoteStore(store, options)],
  ['resilient', (store, options) => resilient(store, options)],
  ['withCoalescing', (store, options) => withCoalescing(store, options)],
  ['withBreaker', (store, options) => withBreaker(store, options)],
  ['withDeniedCache', (store, options) => withDeniedCache(store, options)],
  ['withLeases', (store, options) => withLeases(store, options)],
]

/** A store that is a class: its methods need their `this`, and it has no optional methods. */
class Own implements Store {
  readonly #inner = farStore(memoryStore({ clock: manualClock() }))
  readonly name = 'own'
  readonly capabilities = { ...this.#inner.capabilities, changes: ['reset'] as const }
  decide(...args: Parameters<Store['decide']>) {
    return this.#inner.decide(...args)
  }
  change(...args: Parameters<Store['change']>) {
    return this.#inner.change(...args)
  }
  ready() {
    return this.#inner.ready()
  }
  close() {
    return this.#inner.close()
  }
}

describe.each(RINGS)('%s', (_, around) => {
  it('X7: can do what its store can', async () => {
    const store = new Own()
    const ring = around(store)
    expect([ring.name, ring.capabilities]).toEqual(['own', store.capabilities])
    expect([ring.lease, ring.laneOf]).toEqual([undefined, undefined])
    await ring.ready()
    for (const outcome of ['allowed', 'denied']) {
      const [verdict] = await verbs.decide(ring, [{ calls: [call('k', 10)] }])
      expect(verdict?.outcome).toBe(outcome)
    }
    expect((await verbs.peek(ring, [group('k')]))[0]?.outcome).toBe('denied')
    await verbs.reset(ring, [call('k').id])
    expect((await verbs.decide(ring, [group('k')]))[0]?.outcome).toBe('allowed')
    await ring.close()
  })

  it('X7: gives back, takes and blocks', async () => {
    const ring = around(farStore(memoryStore({ clock: manualClock() })))
    await verbs.adjust(ring, [call('k')], [-10_000_000])
    expect((await verbs.decide(ring, [group('k')]))[0]?.outcome).toBe('denied')
    await verbs.adjust(ring, [call('k')], [2_000_000])
    expect((await verbs.peek(ring, [group('k')]))[0]?.calls[0]?.remaining).toBe(2)
    await verbs.block(ring, [call('k').id], 3_600_000_000)
    expect((await verbs.decide(ring, [group('k')]))[0]).toMatchObject({ outcome: 'denied', calls: [{ blockedFor: 3_600_000_000 }] })
    await verbs.block(ring, [call('k').id], null)
    expect((await verbs.decide(ring, [group('k')]))[0]?.outcome).toBe('allowed')
    await ring.close()
  })

  it('leaves out the ring where the store is in this process', async () => {
    const store = memoryStore({ clock: manualClock() })
    const ring = around(store)
    expect([ring.capabilities, ring.breakerState, ring.leasedTokens, ring.name]).toEqual([store.capabilities, 'closed', 0, 'memory'])
    const outcomes = Array.from({ length: 11 }, () => verbs.decideNow(ring, group('k')).outcome)
    expect(outcomes).toEqual([...Array<string>(10).fill('allowed'), 'denied'])
    expect((await verbs.peek(ring, [group('k')]))[0]).toMatchObject({ outcome: 'denied' })
    expect((await verbs.decide(ring, [group('k')]))[0]?.source ?? 'store').toBe('store')
    await verbs.reset(ring, [call('k').id])
    await ring.ready()
    expect((await verbs.decide(ring, [group('k')]))[0]?.outcome).toBe('allowed')
    await ring.close()
    expect(store.size).toBe(0)
  })

  it('refuses what is not a store, and options that it does not know', () => {
    for (const store of [undefined, {}, () => {}])
      expect(() => around(store as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('remoteStore: store') as unknown }),
      )
    for (const options of [{ retries: 3 }, 5, 'fast', null, []])
      expect(() => around(memoryStore(), options as object)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('remoteStore') as unknown }),
      )
  })
})

describe('the ring', () => {
  it('around a ring replaces it', async () => {
    const { ring, sent, answerAll, clock } = ringBench({ batching: { maxCalls: 1 }, breaker: { failures: 1 } })
    const outer = withCoalescing(remoteStore(ring, { clock, batching: false }), { clock })
    const answers = ['a', 'b'].map((key) => outer.decide([group(key)]))
    await settle()
    expect(sent()).toEqual([['a', 'b']])
    await answerAll()
    expect((await Promise.all(answers)).flat().map(outcomeOf)).toEqual(['allowed', 'allowed'])
  })

  it('around a store around a ring keeps both: what is between them is not lost', async () => {
    const inner = remoteStore(farStore(memoryStore()))
    let seen = 0
    const between: Store = {
      ...inner,
      decide: (groups, options) => {
        seen += groups.length
        return inner.decide(groups, options)
      },
    }
    const outer = remoteStore(between)
    await outer.decide([group('a'), group('b')])
    expect(seen).toBe(2)
    await outer.close()
  })

  it('has all of its parts but leases by default', async () => {
    const { ring, ask, calls, sent, pass, answerAll } = ringBench({ denials: {} })
    const both = [ask(['a', 'a']), ask('b')]
    await settle()
    expect(sent()).toEqual([['a', 'a', 'b']])
    await answerAll()
    expect(both.map(({ outcomes }) => outcomes)).toEqual([['allowed', 'allowed'], ['allowed']])
    const whole = (): Promise<unknown> => ring.decide([{ calls: [call('a', 10)] }])
    const denied = whole()
    await answerAll()
    await denied
    expect(await whole()).toMatchObject([{ outcome: 'denied', source: 'denied-cache' }])
    expect(calls).toEqual([])
    expect(ring.leasedTokens).toBe(0)
    ask('c', { deadline: 10 })
    ask('c', { deadline: 20 })
    ask('c', { deadline: 30 })
    for (let failed = 0; failed < 3; failed += 1) {
      ask(`d${failed}`)
      await settle()
      await calls.shift()?.fail(new StoreFailure('readonly', 'no', 'a replica'))
    }
    await pass(1)
    expect(ring.breakerState).toBe('open')
    await ring.close()
  })

  it('X7: calls the store for each denial if it does not remember them', async () => {
    const { ring, sent, answerAll } = ringBench({ denials: false })
    for (const outcome of ['allowed', 'denied', 'denied']) {
      const decided = ring.decide([{ calls: [call('k', 10)] }])
      await settle()
      expect(sent()).toEqual([['k']])
      await answerAll()
      expect((await decided).map(outcomeOf)).toEqual([outcome])
    }
  })

  it('X7: calls a store that fails again and again if it has no breaker', async () => {
    const { ask, calls, ring } = ringBench({ breaker: false })
    for (let turn = 0; turn < 100; turn += 1) {
      const one = ask('k')
      await settle()
      const [sent, ...others] = calls.splice(0)
      expect(others).toEqual([])
      await sent?.fail(new StoreFailure('connection', 'unknown', 'away'))
      expect(one.outcomes).toEqual(['connection unknown'])
    }
    expect(ring.breakerState).toBe('closed')
  })

  it('reports failures in verdicts and results, and does not reject for them', async () => {
    const { ring, calls, pass } = ringBench({ breaker: false })
    const [decided, peeked] = [ring.decide([group('a'), group('b')]), ring.decide([group('a')], { charge: false })]
    const changed = ring.change([
      { kind: 'reset', id: call('a').id },
      { kind: 'unblock', id: call('b').id },
    ])
    await settle()
    const failure = new StoreFailure('setup', 'no', 'no such table')
    for (const held of calls.splice(0)) await held.fail(failure)
    expect(await decided).toEqual([{ failure }, { failure }])
    expect(await peeked).toEqual([{ failure }])
    expect(await changed).toEqual([{ failure }, { failure }])
    const away = ring.decide([group('a')], { deadline: 10 })
    await settle()
    for (let turn = 0; turn < 10; turn += 1) {
      await calls.shift()?.fail(gone())
      await pass(1)
    }
    expect((await away).map(outcomeOf)).toEqual(['connection no'])
  })

  it('calls no store for an empty list of changes', async () => {
    const { ring, calls } = ringBench()
    const changed = ring.change([])
    await settle()
    expect(calls).toEqual([])
    expect(await changed).toEqual([])
  })

  it('leaves failures to the policy of the limiter', async () => {
    const { ring, clock, pass, answerAll } = ringBench({ breaker: false })
    const limit = tokenBucket({ rate: '1/h', burst: 3 })
    const limiter = createLimiter({ limit, store: ring, clock, onStoreFailure: 'allow', deadlineMs: 50 })
    const undecided = [limiter.check('k'), limiter.check('other')]
    await pass(51)
    for (const one of undecided)
      expect(await one).toMatchObject({ outcome: 'undecided', allowed: true, source: 'fallback', degraded: { kind: 'timeout' } })
    const decided = limiter.check('k')
    await answerAll()
    expect(await decided).toMatchObject({ outcome: 'allowed', source: 'store' })
    await limiter.close()
  })

  it('leases where its store does, and not where it does not', async () => {
    expect(withLeases(farStore(memoryStore())).lease).toBeUndefined()
    const { ring, sent, answerAll } = ringBench({}, undefined, (store) => store)
    expect(ring.lease).toBeUndefined()
    const leasing = ringBench({}, (clock) => ({
      ...memoryStore({ clock }),
      lease: async (requests) => requests.map(() => ({ granted: 1 }) as never),
    }))
    const request = (key: string) => ({ call: call(key), want: 1, holder: 1, sequence: 1, life: 1, kept: 0, returned: 0 })
    const lease = leasing.ring.lease as NonNullable<Store['lease']>
    const answers = [['a'], ['b', 'c']].map((of) => lease(of.map(request)))
    await settle()
    expect(leasing.sent()).toEqual([['a', 'b', 'c']])
    await leasing.answerAll()
    expect((await Promise.all(answers)).map((some) => some.length)).toEqual([1, 2])
    expect(await lease([])).toEqual([])
    expect(sent()).toEqual([])
    await answerAll()
  })

  it.each<[RemoteStoreOptions | Record<string, unknown>, string]>([
    [{ retries: 3 }, 'remoteStore: unknown option retries'],
    [{ batching: true }, 'remoteStore: batching'],
    [{ batching: { maxCalls: 0 } }, 'remoteStore: batching: maxCalls'],
    [{ batching: { maxCalls: 1.5 } }, 'remoteStore: batching: maxCalls'],
    [{ batching: { maxQueued: Number.NaN } }, 'remoteStore: batching: maxQueued'],
    [{ batching: { batch: 1 } }, 'remoteStore: batching: unknown option batch'],
    [{ breaker: { probes: 1 } }, 'remoteStore: breaker: unknown option probes'],
    [{ denials: { maxDeniedMs: 0 } }, 'remoteStore: denials: maxDeniedMs'],
    [{ denials: [] }, 'remoteStore: denials'],
    [{ leases: { share: 2 } }, 'remoteStore: leases: share'],
    [{ leases: true }, 'remoteStore: leases'],
    [{ clock: Date }, 'remoteStore: clock'],
    [{ random: 4 }, 'remoteStore: random'],
  ])('refuses %j and names the place', (options, place) => {
    for (const store of [memoryStore(), farStore(memoryStore())])
      expect(() => remoteStore(store, options as RemoteStoreOptions)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(place) as unknown }),
      )
  })
})
