import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { type LeaseAnswer, type Store, StoreFailure } from '../../../src/stores/store.ts'
import * as verbs from '../../../src/testing/store-verbs.ts'
import { manualClock } from '../../../src/time/manual.ts'
import type { Time } from '../../../src/time/time.ts'
import { settle } from './held-store.ts'
import { call, decide, leaseBench, T } from './lease-bench.ts'
import { leased } from './leased.ts'
import { leasingStore } from './leasing-store.ts'

/** A clock without real time: each reading takes 2 us, and each turn of the event loop 50 us. */
function loopClock(): Time {
  let ms = 0
  return {
    monotonic: () => (ms += 0.002),
    now: () => Math.floor(ms * 1_000),
    after(delay, fn) {
      const due = ms + delay
      let live = true
      const turn = (): void => {
        ms += 0.05
        if (live && ms >= due) fn()
        else if (live) setImmediate(turn)
      }
      setImmediate(turn)
      return () => {
        live = false
      }
    },
  }
}

/** A server that allows every call. Its answers wait in a socket until the event loop reads them. */
function socketStore(clock: Time, longest: { ms: number }): Store & Required<Pick<Store, 'lease'>> {
  const view = { outcome: 'allowed', retryAfter: 0, remaining: 1, replenishAfter: 0, resetAfter: 0 } as const
  const read = async <T>(answer: T): Promise<T> => {
    const sent = clock.monotonic()
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    longest.ms = Math.max(longest.ms, clock.monotonic() - sent)
    return answer
  }
  return {
    ...leasingStore(clock),
    decide: (groups) => read(groups.map(({ calls }) => ({ outcome: 'allowed', at: clock.now(), calls: calls.map(() => view) }))),
    lease: (requests) => read(requests.map(({ want }): LeaseAnswer => ({ granted: want, at: clock.now(), verdict: view }))),
  }
}

describe('R11: callers that are answered in microtasks', () => {
  it('let the event loop read the refill: 256 with keys of their own, and nobody is undecided', async () => {
    const clock = loopClock()
    const longest = { ms: 0 }
    const store = leased(socketStore(clock, longest), { clock })
    const limit = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })
    const scope = { text: 'loop:tb:' }
    const counts = { leased: 0, undecided: 0 }
    const caller = async (key: string): Promise<void> => {
      const group = { calls: [{ id: { scope, key }, limit, cost: T, phase: 0 }] }
      while (clock.monotonic() < 1_000) {
        const ask = () => store.decide([group], { deadline: clock.monotonic() + 50 })
        const [verdict] = await Promise.resolve(store.decideNow?.(group)).then((now) => (now === undefined ? ask() : [now]))
        if (verdict?.failure !== undefined) counts.undecided += 1
        else if (verbs.decided(verdict).source === 'lease') counts.leased += 1
      }
    }
    await Promise.all(Array.from({ length: 256 }, (_, index) => caller(`k${index}`)))
    await store.close()
    expect(counts.undecided).toBe(0)
    expect(counts.leased).toBeGreaterThan(100_000)
    expect(longest.ms).toBeLessThan(10)
  })

  it('wait for one turn together, and only while an answer is awaited', async () => {
    const clock = manualClock()
    const { store, inner, known } = leaseBench({}, clock)
    const group = { calls: [known(call('k'))] }
    await decide(store, [group])
    clock.shift(5_000)
    expect(store.decideNow?.(group)?.outcome).toBe('allowed')
    let answer = (): void => {}
    const { lease } = inner
    Object.assign(inner, {
      lease: async (...request: Parameters<typeof lease>) => {
        await new Promise<void>((resolve) => (answer = resolve))
        return lease(...request)
      },
    })
    const slow = leased(inner, { afterCalls: 1, share: 0.5, clock })
    const first = slow.decide([{ calls: [known(call('slow'))] }])
    answer()
    await first
    void slow.decide([{ calls: [known(call('other'))] }])
    clock.shift(2_001)
    const late = { calls: [known(call('slow'))] }
    expect(slow.decideNow?.(late)).toBeUndefined()
    let timers = 0
    const { after } = clock
    clock.after = (ms, fn) => ((timers += 1), after(ms, fn))
    const waiting = Promise.all([slow.decide([late]), slow.decide([late, late])])
    let isDone = false
    void waiting.then(() => (isDone = true))
    await settle()
    expect([isDone, timers]).toEqual([false, 0])
    clock.advance(0)
    await settle()
    expect(isDone).toBe(true)
    expect((await waiting).flat().map((verdict) => verbs.decided(verdict).source)).toEqual(['lease', 'lease', 'lease'])
  })
})

describe('R12: the slow request of one key', () => {
  /** A lease cache over a store that answers requests for keys that begin with `slow` only when the test says so. */
  function slowBench() {
    const clock = manualClock()
    const inner = leasingStore(clock)
    const held: ((failure?: StoreFailure) => void)[] = []
    const deadlines: (number | undefined)[] = []
    const store = leased(
      {
        ...inner,
        async lease(requests, options) {
          if (requests.some(({ call: { id } }) => id.key.startsWith('slow')))
            await new Promise<void>((resolve, reject) => {
              deadlines.push(options?.deadline)
              held.push((failure) => (failure === undefined ? resolve() : reject(failure)))
            })
          return inner.lease(requests, options)
        },
      },
      { clock, afterCalls: 1, share: 0.5 },
    )
    const { scope } = call('k').id
    const group = (key: string) => ({ calls: [{ ...call(key), id: { scope, key } }] })
    const outcome = async (key: string, options?: { deadline?: number; signal?: AbortSignal }): Promise<string> => {
      const [verdict] = await store.decide([group(key)], options)
      return verdict?.outcome ?? `${verdict?.failure?.kind} ${verdict?.failure?.executed}`
    }
    return { clock, inner, held, deadlines, store, group, outcome }
  }

  it('holds no call of another key, alone or in a list', async () => {
    const { clock, store, group, outcome } = slowBench()
    const late = outcome('slow', { deadline: 100 })
    await outcome('quick')
    for (let ms = 1; ms < 100; ms += 1) {
      clock.advance(1)
      await settle()
      if (ms % 2 === 1) expect(await outcome('quick')).toBe('allowed')
      else expect(verbs.decideNow(store, group('quick')).source).toBe('lease')
    }
    const list = await store.decide([group('quick'), group('slow2'), group('slow')])
    expect(list.map((verdict) => verdict.outcome)).toEqual(['allowed', 'allowed', 'allowed'])
    await verbs.reset(store, [group('quick').calls[0]?.id as never])
    clock.advance(1)
    expect(await late).toBe('timeout no')
  })

  it('ends for each caller at his own deadline, and not at that of who sent it', async () => {
    const { clock, held, deadlines, outcome } = slowBench()
    const leaving = new AbortController()
    const hasty = outcome('slow', { deadline: 5 })
    const patient = [outcome('slow', { deadline: 50 }), outcome('slow', { deadline: 60 })]
    const aborted = outcome('slow', { deadline: 50, signal: leaving.signal })
    leaving.abort()
    expect(await aborted).toBe('aborted no')
    clock.advance(5)
    held.shift()?.(new StoreFailure('timeout', 'unknown', 'no answer by the deadline'))
    expect(await hasty).toBe('timeout no')
    // Somebody still waits, so the tokens are requested again.
    await settle()
    expect(deadlines).toEqual([5, 60])
    held.shift()?.()
    expect(await Promise.all(patient)).toEqual(['allowed', 'allowed'])
  })

  it('keeps a change or a peek of that key waiting until their deadline, and no longer', async () => {
    const { clock, inner, held, store, group, outcome } = slowBench()
    void outcome('slow')
    const peeking = verbs.peek(store, [group('slow')], { deadline: 20 })
    const blocking = verbs.block(store, [group('slow').calls[0]?.id as never], 1_000, { deadline: 30 })
    void blocking.catch(() => {})
    clock.advance(20)
    await expect(peeking).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    clock.advance(10)
    await expect(blocking).rejects.toMatchObject({ kind: 'timeout', executed: 'no' })
    // Meanwhile the store decides.
    expect(await outcome('slow')).toBe('allowed')
    expect(inner.asked.decide).toBe(1)
    held.shift()?.()
    await settle()
    held.shift()?.()
    await settle()
    expect(store.leasedTokens).toBe(0)
  })

  it('is the only one that nonsense fails', async () => {
    const { clock, inner } = slowBench()
    for (const nonsense of [[], [undefined], [{ granted: Number.NaN, at: 0, verdict: { outcome: 'denied', retryAfter: 1 } }], undefined]) {
      const store = leased({ ...inner, lease: async () => nonsense as never }, { clock, afterCalls: 1, share: 0.5 })
      const [verdict] = await store.decide([{ calls: [call('k')] }])
      expect(verdict?.failure?.kind ?? verdict?.outcome).toMatch(/protocol|denied/)
      expect(store.decideNow?.({ calls: [call('k')] })).toBeUndefined()
    }
  })
})
