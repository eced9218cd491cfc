import { describe, expect, it } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  slidingWindowLog,
  type Store,
  StoreFailure,
} from '../../src/index.ts'
import { waitingChecks } from '../../src/http/waiting.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** Milliseconds of a store's call. */
const CALL_MS = 20

/** A memory store whose answers take 20 ms by the test's clock. While `fails` is set, calls are executed but their answers are lost. */
function later(clock: ManualClock) {
  const inner = memoryStore({ clock })
  const { decideNow: _, ...rest } = inner
  const state = { fails: false, calls: 0 }
  const store: Store = {
    ...rest,
    capabilities: { ...inner.capabilities, sync: false },
    decide: (groups, options) =>
      new Promise((resolve, reject) => {
        state.calls += 1
        const verdicts = inner.decide(groups, options)
        clock.after(CALL_MS, () => (state.fails ? reject(new StoreFailure('timeout', 'unknown', 'lost')) : resolve(verdicts)))
      }),
  }
  return { inner, store, state }
}

/** A limiter on a store whose answers take 20 ms, and a record of what each waiter got, and when. */
function inLine(options: Pick<LimiterOptions, 'limit' | 'limits' | 'onStoreFailure'>) {
  const clock = manualClock()
  const { inner, store, state } = later(clock)
  const limiter = createLimiter({ name: 'line', ...options, store, clock })
  const got: string[] = []
  const wait = (name: string, own: Parameters<typeof limiter.wait>[1] = {}): void =>
    void limiter.wait('k', own).then(
      ({ outcome }) => void got.push(`${name} ${outcome} at ${clock.monotonic()}`),
      (error: Error) => void got.push(`${name} ${error.message} at ${clock.monotonic()}`),
    )
  const advance = async (ms: number): Promise<void> => {
    await settle()
    for (let passed = 0; passed < ms; passed += 1) {
      clock.advance(1)
      await settle()
    }
  }
  const check = async (cost = 1): Promise<Awaited<ReturnType<typeof limiter.check>>> => {
    const checked = limiter.check('k', { cost })
    await advance(CALL_MS)
    return checked
  }
  return { advance, check, clock, got, inner, limiter, state, wait }
}

const MINUTE = '1m'

describe.each([
  ['a fixed window', fixedWindow({ limit: 2, window: MINUTE, align: 'first' })],
  ['a sliding window log', slidingWindowLog({ limit: 2, window: MINUTE })],
  ['slots', concurrency({ limit: 2, holdMs: 60_000 })],
])('wait in line for %s, on a store that answers later', (_, limit) => {
  it('is denied with the answer that is on its way, not after those before it', async () => {
    const { advance, check, got, state, wait } = inLine({ limit })
    await check(2)
    wait('a')
    wait('b', { maxWaitMs: 0 })
    await advance(CALL_MS)
    expect(got).toEqual(['b denied at 40'])
    // An answer is an answer to all that wait for it.
    expect(state.calls).toBe(2)
  })

  it('comes through in the order of arrival where there is room, also if it may not wait', async () => {
    const { advance, got, wait } = inLine({ limit })
    wait('a')
    wait('b', { maxWaitMs: 0 })
    wait('c', { maxWaitMs: 0 })
    await advance(3 * CALL_MS)
    expect(got).toEqual(['a allowed at 20', 'b allowed at 40', 'c denied at 60'])
  })

  it('asks itself if the answers that are on their way take longer than a call may take', async () => {
    const { advance, check, got, wait } = inLine({ limit })
    await check()
    wait('a', { cost: 2 })
    await advance(1)
    for (const name of ['b', 'c', 'd']) wait(name, { maxWaitMs: 0, deadlineMs: 5 })
    await advance(30)
    expect(got.map((one) => one.split(' at ')[0])).toEqual(expect.arrayContaining(['b', 'c', 'd'].map((name) => `${name} undecided`)))
  })

  it('ends at once with the reason of the signal, also while an answer is on its way', async () => {
    const { advance, check, got, wait } = inLine({ limit })
    await check(2)
    const controller = new AbortController()
    wait('a')
    wait('b', { maxWaitMs: 0, signal: controller.signal })
    await advance(5)
    controller.abort(new Error('gone'))
    await advance(0)
    expect(got).toEqual(['b gone at 25'])
  })

  it('is refused within a call beyond maxWaiting of an adapter', async () => {
    const { advance, check, clock, limiter } = inLine({ limit })
    await check(2)
    const checked = waitingChecks<object, object>({ maxWaiting: 2, maxWaitMs: 120_000 } as never, undefined)(limiter)
    const decided: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) {
      void checked('k', undefined, {}).then((decision) =>
        decided.push(`${name} ${(decision as { outcome: string }).outcome} at ${clock.monotonic()}`),
      )
    }
    await advance(CALL_MS)
    expect(decided).toEqual(['c denied at 40', 'd denied at 40'])
  })

  it('is impossible above the capacity, at once, whoever waits', async () => {
    const { advance, check, got, wait } = inLine({ limit })
    await check(2)
    wait('a')
    await advance(CALL_MS)
    wait('b', { cost: 3 })
    await advance(CALL_MS)
    expect(got).toEqual(['b impossible at 60'])
  })
})

describe('a denial of somebody before', () => {
  it('is as of the instant at which it is returned', async () => {
    const { advance, check, limiter } = inLine({ limit: fixedWindow({ limit: 1, window: MINUTE, align: 'first' }) })
    const { at } = await check()
    void limiter.wait('k')
    const denied = limiter.wait('k', { maxWaitMs: 10_000 })
    await advance(10_000)
    const decision = await denied
    expect(decision).toMatchObject({ outcome: 'denied', reason: 'quota', limitName: 'default' })
    // The window began when the store got the check. The denial may be late by the duration of its call, 20 ms.
    expect(decision.at - at).toBe(10_000)
    expect(decision.retryAfterMs).toBe(50_000)
    expect(decision.limits).toMatchObject([{ remaining: 0, replenishAfterMs: 50_000, resetAfterMs: 50_000 }])
    expect(decision.atMicros).toBe(decision.at * 1_000)
  })
})

describe('a caller that leaves while it is checked', () => {
  const limits = { window: fixedWindow({ limit: 10, window: MINUTE, align: 'first' }), open: concurrency({ limit: 2, holdMs: 60_000 }) }

  /** One caller takes a token and a slot. The next caller leaves while the store answers its check, and that answer is lost. */
  const leaving = async (onStoreFailure: LimiterOptions['onStoreFailure']) => {
    const line = inLine({ limits, ...(onStoreFailure === undefined ? {} : { onStoreFailure }) })
    const { advance, check, got, state, wait } = line
    await check()
    state.fails = true
    const controller = new AbortController()
    wait('a', { signal: controller.signal })
    await advance(CALL_MS / 2)
    controller.abort(new Error('gone'))
    await advance(CALL_MS)
    expect(got).toEqual(['a gone at 40'])
    return line
  }
  /** What is left of both limits in a store: tokens of the window, and slots. */
  const leftIn = async (store: Store, clock: ManualClock): Promise<readonly number[]> =>
    (await createLimiter({ name: 'line', limits, store, clock }).peek('k')).limits.map(({ remaining }) => remaining)

  it('gives back to the local fallback what that one has charged, and to the store the slot that it may hold', async () => {
    const local = memoryStore({ clock: manualClock() })
    const { clock, inner } = await leaving(local)
    expect(await leftIn(local, clock)).toEqual([10, 2])
    // The store has charged the lost check, but the limiter cannot know that. So its token is not given back, only the slot that it may
    // hold.
    expect(await leftIn(inner, clock)).toEqual([8, 1])
  })

  it('gives back the slot that it may hold where nothing was decided, and no token', async () => {
    const { clock, inner } = await leaving('deny')
    expect(await leftIn(inner, clock)).toEqual([8, 1])
  })
})
