import { describe, expect, it } from 'vitest'
import { tokenBucket } from '../../../src/algorithms/token-bucket.ts'
import { stateName } from '../../../src/keys/encode.ts'
import { compareAndSwapStore } from '../../../src/stores/families/compare-and-swap.ts'
import type { Call, DecideOptions, Store } from '../../../src/stores/store.ts'
import { manualClock } from '../../../src/testing.ts'
import { systemRandom, systemTime } from '../../../src/time/system.ts'
import { type MemoryBackend, memoryBackend } from './memory-backend.ts'

const limit = tokenBucket({ rate: '1/day', burst: 10 })
const call = (key: string): Call => ({ id: { scope: { text: 'cas:' }, key }, limit, cost: 1_000_000, phase: 0 })
const groups = [{ calls: [call('k')] }]
/** Pauses take no time. */
const hurried = { ...systemTime, after: (_: number, fn: () => void) => systemTime.after(0, fn) }

function open(maxInFlight?: number): { backend: MemoryBackend; store: Store } {
  const backend = memoryBackend()
  return { backend, store: compareAndSwapStore(backend, { clock: hurried, random: systemRandom, ...(maxInFlight && { maxInFlight }) }) }
}

/** Before each of the next `times` writes, makes or changes the row as another process would. */
function conflicts(backend: MemoryBackend, times: number): void {
  let left = times
  backend.beforeWrite = ([write]) => {
    if (write === undefined || left-- <= 0) return
    const row = backend.rows.get(write.id) ?? { numbers: [], expiresAt: 0, until: 0 }
    backend.rows.set(write.id, { ...row, version: `other${left}` })
  }
}

describe('compare-and-swap', () => {
  it.each([0, 1, 7, 99])('starts again where a row has changed, %d times, and charges once', async (times) => {
    const { backend, store } = open()
    conflicts(backend, times)
    expect(await store.decide(groups)).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 9 }] }])
    expect(backend.made).toEqual({ reads: times + 1, writes: 1 })
  })

  it('gives up after a hundred attempts, or three that are not to wait: contention, nothing charged', async () => {
    const { backend, store } = open()
    conflicts(backend, 1_000)
    await expect(store.decide(groups)).rejects.toMatchObject({ name: 'StoreFailure', kind: 'contention', executed: 'no' })
    expect(backend.made).toEqual({ reads: 100, writes: 0 })
    await expect(store.decide(groups, { onContention: 'fail' })).rejects.toMatchObject({ kind: 'contention', executed: 'no' })
    expect(backend.made).toEqual({ reads: 103, writes: 0 })
    expect(await store.change([{ kind: 'reset', id: call('k').id }])).toEqual([{}])
    const results = await store.change([{ kind: 'block', id: call('k').id, micros: 5 }])
    expect(results).toMatchObject([{ failure: { kind: 'contention', executed: 'no' } }])
  })

  it('attempts nothing after the deadline or once aborted', async () => {
    const clock = manualClock()
    const backend = memoryBackend(clock)
    const store = compareAndSwapStore(backend, { clock, random: () => 0.5 })
    conflicts(backend, 1_000)
    const failed = store.decide(groups, { deadline: clock.monotonic() + 50 }).then(
      () => 'decided',
      (error: unknown) => error,
    )
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    for (let ms = 0; ms < 60; ms += 1) {
      await turn()
      clock.advance(1)
    }
    expect(await failed).toMatchObject({ kind: 'timeout' })
    const { reads } = backend.made
    expect(reads).toBeGreaterThan(2)
    expect(reads).toBeLessThan(12)
    const controller = new AbortController()
    const aborted = store.decide(groups, { signal: controller.signal }).then(
      () => 'decided',
      (error: unknown) => error,
    )
    controller.abort()
    expect(await aborted).toMatchObject({ kind: 'aborted' })
    for (let ms = 0; ms < 100; ms += 1) {
      await turn()
      clock.advance(1)
    }
    expect(backend.made.reads).toBeLessThanOrEqual(reads + 1)
  })

  it.each([
    ['within a second', 900, 'allowed'],
    ['later', 1_100, 'timeout'],
  ])('a new state that is written %s after it was read as absent', async (_, ms, outcome) => {
    const clock = manualClock()
    const backend = memoryBackend(clock)
    const store = compareAndSwapStore(backend, { clock, random: () => 0.5 })
    // Time passes before the write. In that time, another call could have made the row, and the row could have expired.
    backend.beforeWrite = () => clock.advance(ms)
    const decided = await store.decide(groups).then(
      ([verdict]) => verdict?.outcome,
      ({ kind, executed }) => (executed === 'unknown' ? kind : executed),
    )
    expect(decided).toBe(outcome)
    expect(await store.decide(groups)).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 8 }] }])
  })

  it('reads a new state again if half a second has passed before it is written', async () => {
    const clock = manualClock()
    const backend = memoryBackend(clock)
    const { read } = backend
    const slow = [600, 100]
    backend.read = async (...args) => {
      const found = await read(...args)
      clock.advance(slow.shift() ?? 0)
      return found
    }
    const decided = compareAndSwapStore(backend, { clock, random: () => 0 }).decide(groups)
    for (let turn = 0; turn < 20; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      clock.advance(1)
    }
    expect(await decided).toMatchObject([{ outcome: 'allowed' }])
    expect(backend.made).toEqual({ reads: 2, writes: 1 })
  })

  it('a peek and a denial write nothing, and no group of a call is charged if the write fails', async () => {
    const { backend, store } = open()
    const peeked = await store.decide([...groups, ...groups], { charge: false })
    expect(peeked).toMatchObject([{ calls: [{ remaining: 10 }] }, { calls: [{ remaining: 9 }] }])
    await store.decide([{ calls: [{ ...call('k'), cost: 10_000_000 }] }])
    const before = new Map(backend.rows)
    expect(await store.decide(groups)).toMatchObject([{ outcome: 'denied' }])
    backend.write = async () => Promise.reject(new Error('gone'))
    await expect(store.decide([{ calls: [call('a')] }, { calls: [call('b')] }])).rejects.toMatchObject({
      name: 'StoreFailure',
      kind: 'connection',
      executed: 'unknown',
    })
    expect(backend.rows).toEqual(before)
    expect(backend.made.writes).toBe(1)
  })

  it('a conflict that the server reports is one as well, for changes too; another error is not retried', async () => {
    const { backend, store } = open()
    const { write } = backend
    let [left, attempts] = [2, 0]
    backend.write = async (...args) => {
      attempts += 1
      if (left-- > 0) throw new Error('restart')
      return write(...args)
    }
    backend.isConflict = (error) => error instanceof Error && error.message === 'restart'
    expect(await store.decide(groups)).toMatchObject([{ outcome: 'allowed' }])
    expect(attempts).toBe(3)
    left = 1
    expect(await store.change([{ kind: 'adjust', call: call('k'), amount: -1_000_000 }])).toEqual([{}])
    expect(attempts).toBe(5)
    backend.isConflict = () => false
    left = 1
    await expect(store.decide(groups)).rejects.toMatchObject({ kind: 'connection' })
    expect(attempts).toBe(6)
  })

  it('writes rows in one order, with versions of their own, and passes the options through', async () => {
    const { backend, store } = open()
    const seen: { ids: string[]; options: DecideOptions | undefined }[] = []
    const { write } = backend
    backend.write = async (rows, options) => {
      seen.push({ ids: rows.map(({ id }) => id), options })
      expect(new Set(rows.map(({ next }) => next)).size).toBe(rows.length)
      return write(rows, options)
    }
    const options = { now: 1_763_692_800_123_456 }
    await store.decide([{ calls: ['c', 'a', 'b', 'a'].map(call) }], options)
    expect(seen).toEqual([{ ids: ['a', 'b', 'c'].map((key) => stateName(call(key).id)), options }])
    expect([...backend.rows.values()].every(({ version }) => /^[1-9]\d*$/.test(version))).toBe(true)
  })

  it('refuses calls beyond its bound, and is ready when rows can be read', async () => {
    const { backend, store } = open(1)
    const first = store.decide(groups)
    await expect(store.decide(groups)).rejects.toMatchObject({ kind: 'overload', executed: 'no' })
    expect(await first).toMatchObject([{ outcome: 'allowed' }])
    await store.ready()
    backend.read = () => Promise.reject(new Error('away'))
    await expect(store.ready()).rejects.toMatchObject({ kind: 'connection' })
  })
})
