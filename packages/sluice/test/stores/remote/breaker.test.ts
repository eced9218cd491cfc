import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type BreakerChange, type BreakerOptions, withBreaker } from '../../../src/stores/remote/remote-store.ts'
import { type DecideOptions, type GroupVerdict, type Store, StoreFailure, type StoreFailureKind } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/time/manual.ts'
import { farStore } from './far-store.ts'
import { settle } from './held-store.ts'
import { call, group, outcomeOf } from './ring-bench.ts'

interface Faults {
  /** Whole calls fail. */
  fails: StoreFailureKind | undefined
  /** Each group fails alone. */
  failsEach: StoreFailureKind | undefined
  probeFails: boolean
  probeHangs: boolean
  calls: number
  probes: number
}

/** A store that can be made to fail, and that counts its calls. Peeks and `ready` count as probes of the breaker. */
function bench(options: BreakerOptions = {}) {
  const clock = manualClock()
  const far = farStore(memoryStore({ clock }), clock)
  const faults: Faults = { fails: undefined, failsEach: undefined, probeFails: false, probeHangs: false, calls: 0, probes: 0 }
  const failure = (kind: StoreFailureKind): StoreFailure => new StoreFailure(kind, 'unknown', `it failed: ${kind}`)
  const called = async <T>(answer: () => Promise<T>): Promise<T> => {
    faults.calls += 1
    if (faults.fails !== undefined) throw failure(faults.fails)
    return answer()
  }
  const probed = async <T>(answer: () => Promise<T>): Promise<T> => {
    faults.probes += 1
    if (faults.probeHangs) return new Promise(() => {})
    if (faults.probeFails) throw new StoreFailure('connection', 'no', 'gone')
    return answer()
  }
  const store = withBreaker(
    {
      ...far,
      async decide(groups, callOptions) {
        if (callOptions?.charge !== false) {
          const { failsEach } = faults
          return called((): Promise<readonly GroupVerdict[]> =>
            failsEach === undefined
              ? far.decide(groups, callOptions)
              : Promise.resolve(groups.map(() => ({ failure: failure(failsEach) }))),
          )
        }
        return probed(() => far.decide(groups, callOptions))
      },
      ready: (callOptions) => probed(() => far.ready(callOptions)),
      change: (changes, callOptions) => called(() => far.change(changes, callOptions)),
      lease: () => called(async () => []),
    },
    { clock, random: () => 1, ...options },
  )
  const ask = async (callOptions?: DecideOptions): Promise<string> => {
    const [verdict] = await store.decide([group('k')], callOptions)
    return verdict === undefined ? '' : outcomeOf(verdict)
  }
  const fail = async (times = 3): Promise<void> => {
    faults.fails = 'timeout'
    for (let index = 0; index < times; index += 1) await ask()
  }
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms)
    await settle()
  }
  return { clock, store, ask, fail, advance, faults }
}

describe('a breaker', () => {
  it('opens after three failures and refuses every verb at once, and does not call', async () => {
    const { ask, fail, store, faults } = bench()
    await fail(2)
    expect([store.breakerState, await ask(), store.breakerState]).toEqual(['closed', 'timeout unknown', 'open'])
    const { calls } = faults
    const refusal = { kind: 'unavailable', executed: 'no', cause: { kind: 'timeout' } }
    expect(await store.decide([group('k'), group('l')])).toMatchObject([{ failure: refusal }, { failure: refusal }])
    expect(await store.decide([group('k')], { charge: false })).toMatchObject([{ failure: refusal }])
    expect(await store.change([{ kind: 'reset', id: call('k').id }])).toMatchObject([{ failure: refusal }])
    const request = { call: call('k'), want: 1, holder: 1, sequence: 1, life: 1, kept: 0, returned: 0 }
    expect(await store.lease?.([request])).toMatchObject([{ failure: refusal }])
    expect([faults.calls, faults.probes]).toEqual([calls, 0])
    await store.close()
  })

  it('opens for failures that are half of the calls, not for the few of a server that works', async () => {
    const { ask, fail, faults, store } = bench()
    await fail(1)
    for (let index = 0; index < 20; index += 1) {
      faults.fails = index % 5 === 4 ? 'connection' : undefined
      await ask()
    }
    expect(store.breakerState).toBe('closed')
    faults.fails = 'readonly'
    for (let index = 0; index < 20; index += 1) await ask()
    expect(store.breakerState).toBe('open')
    await store.close()
  })

  it('opens for calls whose groups all fail, each alone', async () => {
    const { ask, faults, store } = bench()
    faults.failsEach = 'unavailable'
    for (let index = 0; index < 3; index += 1) await ask()
    expect(store.breakerState).toBe('open')
    await store.close()
  })

  it('forgets failures that are apart, if calls between them succeed', async () => {
    const { ask, fail, faults, advance, store } = bench()
    for (let index = 0; index < 6; index += 1) {
      await fail(2)
      await advance(201)
      faults.fails = undefined
      await ask()
      await advance(201)
    }
    expect(store.breakerState).toBe('closed')
  })

  it.each([100, 500, 30_000])('opens for three failures in a row over the window, one every %d ms', async (gap) => {
    const { fail, advance, store } = bench()
    const opens: number[] = []
    for (let failed = 1; failed <= 4 && opens.length === 0; failed += 1) {
      await fail(1)
      if (store.breakerState === 'open') opens.push(failed)
      await advance(gap)
    }
    expect(opens).toEqual([3])
    await store.close()
  })

  it('takes no denial for a failure, nor what says nothing about the server', async () => {
    const { ask, fail, faults, store } = bench()
    const outcomes: string[] = []
    for (let index = 0; index < 15; index += 1) outcomes.push(await ask())
    expect(outcomes.slice(8, 12)).toEqual(['allowed', 'allowed', 'denied', 'denied'])
    for (const kind of ['aborted', 'overload', 'contention', 'memory'] as const) {
      faults.fails = kind
      for (let index = 0; index < 20; index += 1) expect(await ask()).toBe(`${kind} unknown`)
    }
    faults.fails = undefined
    for (const kind of ['contention', 'memory'] as const) {
      faults.failsEach = kind
      for (let index = 0; index < 20; index += 1) expect(await ask()).toBe(`${kind} unknown`)
    }
    faults.failsEach = undefined
    for (let index = 0; index < 20; index += 1) expect(await ask({ deadline: 0 })).toBe('timeout no')
    expect(store.breakerState).toBe('closed')
    await fail()
    expect(store.breakerState).toBe('closed')
  })

  it('lets a defect of the store through', async () => {
    const broken = { ...farStore(memoryStore()), change: () => Promise.reject(new TypeError('a bug')) }
    const store = withBreaker(broken, { failures: 1 })
    await expect(store.change([{ kind: 'reset', id: call('k').id }])).rejects.toThrow(TypeError)
    expect(store.breakerState).toBe('closed')
  })

  // A rejection that nobody handles would fail the run of the tests.
  it.each(['throws', 'rejects'])(
    'reports each change of its state, with the failure that opened it, to a listener that %s',
    async (how) => {
      const changes: BreakerChange[] = []
      const { ask, fail, advance, faults, store } = bench({
        onChange(change) {
          changes.push(change)
          const error = new Error('a listener that fails')
          if (how === 'rejects') return Promise.reject(error) as never
          throw error
        },
      })
      await fail()
      faults.fails = undefined
      await advance(250)
      expect(await ask()).toBe('allowed')
      expect(changes).toEqual([
        { store: 'memory', state: 'open', failure: expect.objectContaining({ kind: 'timeout', message: 'it failed: timeout' }) },
        { store: 'memory', state: 'half-open' },
        { store: 'memory', state: 'closed' },
      ])
      expect(store.breakerState).toBe('closed')
    },
  )

  it('probes the server one probe at a time, with a peek, and closes when a call after one succeeds', async () => {
    const { ask, fail, advance, faults, store } = bench()
    await fail()
    faults.probeFails = true
    await advance(249)
    expect(faults.probes).toBe(0)
    for (let probe = 1; probe <= 3; probe += 1) {
      await advance(probe === 1 ? 1 : 250)
      expect([faults.probes, store.breakerState]).toEqual([probe, 'open'])
    }
    faults.probeFails = false
    await advance(250)
    expect(store.breakerState).toBe('half-open')
    faults.fails = undefined
    const { calls } = faults
    expect([await ask(), faults.calls - calls, store.breakerState]).toEqual(['allowed', 1, 'closed'])
    expect(await ask()).toBe('allowed')
    await advance(10_000)
    expect(faults.probes).toBe(4)
  })

  it('opens again if the first call after a probe fails, and not if it came too late', async () => {
    const { ask, fail, advance, faults, store } = bench()
    await fail()
    await advance(250)
    expect([await ask(), store.breakerState, await ask()]).toEqual(['timeout unknown', 'open', 'unavailable no'])
    await advance(250)
    expect([store.breakerState, await ask({ deadline: 0 }), store.breakerState]).toEqual(['half-open', 'timeout no', 'half-open'])
    faults.fails = undefined
    expect([await ask(), store.breakerState]).toEqual(['allowed', 'closed'])
  })

  it('needs as many failures as at first to open again', async () => {
    const { ask, fail, advance, faults, store } = bench()
    await fail()
    await advance(250)
    faults.fails = undefined
    await ask()
    await fail(2)
    expect(store.breakerState).toBe('closed')
    await fail(1)
    expect(store.breakerState).toBe('open')
  })

  it('probes again after a probe that never settles', async () => {
    const { ask, fail, advance, faults, store } = bench()
    await fail()
    faults.probeHangs = true
    await advance(250)
    await advance(55)
    await advance(250)
    expect([faults.probes, store.breakerState]).toEqual([2, 'open'])
    faults.probeHangs = false
    faults.fails = undefined
    await advance(55)
    await advance(250)
    expect([faults.probes, await ask(), store.breakerState]).toEqual([3, 'allowed', 'closed'])
  })

  it('probes at random intervals of at least half the longest', async () => {
    const { fail, advance, faults, store } = bench({ random: () => 0, probeMs: 100 } as BreakerOptions)
    await fail()
    await advance(49)
    expect(faults.probes).toBe(0)
    await advance(1)
    expect(faults.probes).toBe(1)
    await store.close()
  })

  it('stops probing when nobody calls, and lets the next call decide', async () => {
    const { fail, advance, faults, store, ask } = bench()
    await fail()
    faults.probeFails = true
    for (let step = 0; step < 400; step += 1) await advance(250)
    expect([faults.probes > 200, faults.probes < 260, store.breakerState]).toEqual([true, true, 'half-open'])
    faults.fails = undefined
    expect(await ask()).toBe('allowed')
  })

  it('stops probing when it is closed', async () => {
    const { fail, advance, faults, store } = bench()
    await fail()
    await store.close()
    await advance(10_000)
    expect(faults.probes).toBe(0)
  })

  it.each([{ failures: 0 }, { windowMs: 0 }, { probeMs: Number.NaN }, { deadlineMs: 0 }, { threshold: 1 }])('refuses %j', (options) => {
    expect(() => withBreaker(memoryStore() as Store, options as BreakerOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining('breaker') as unknown }),
    )
  })
})
