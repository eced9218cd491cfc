import { describe, expect, it, vi } from 'vitest'
import { createLimiter, type Decision, memoryStore, type Store, tokenBucket } from '../../src/index.ts'
import { createEngine, parsePolicy } from '../../src/policy.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'

const limit = tokenBucket({ rate: '1/day', burst: 2 })
const TIMEOUT = { kind: 'timeout', executed: 'unknown' }
const FACTS = { method: 'GET', path: '/', headers: {} }

/** A store that accepts every call and settles none. */
function silent(members: Partial<Store> = {}): Store {
  const never = (): Promise<never> => new Promise(() => {})
  return remoteMemory(memoryStore(), { name: 'silent', decide: never, change: never, ready: never, ...members })
}

function engineOver(store: Store, clock: ManualClock, failure = '') {
  const policy = parsePolicy(`version: 1
${failure}
rules:
  - { name: a, key: [], rate: 1/day, burst: 2 }
  - { name: s, key: [], rate: 1/day, burst: 1, mode: shadow }
`)
  return createEngine({ policy, store, clock })
}

/** Whether the call settles, and not before this many milliseconds. */
async function settlesAfter<T>(clock: ManualClock, ms: number, call: Promise<T>): Promise<T> {
  const settled = vi.fn()
  call.then(settled, settled)
  await steps()
  clock.advance(ms - 1)
  await steps()
  expect(settled).not.toHaveBeenCalled()
  clock.advance(1)
  await steps()
  expect(settled).toHaveBeenCalledTimes(1)
  return call
}

const steps = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('R14: a store that never settles does not hang its callers', () => {
  it.each([
    ['check', 0],
    ['peek', 0],
    ['checkMany', 0],
    ['check, decides now', 1],
  ] as const)('%s settles three milliseconds after its deadline, by the failure policy', async (verb, index) => {
    const clock = manualClock()
    const store = silent(index === 1 ? { decideNow: () => undefined } : {})
    for (const [onStoreFailure, expected] of [
      ['deny', { outcome: 'undecided', allowed: false, source: 'fallback' }],
      ['allow', { outcome: 'undecided', allowed: true, source: 'fallback' }],
      ['local', { outcome: 'allowed', allowed: true, source: 'fallback' }],
    ] as const) {
      const limiter = createLimiter({ limit, store, clock, onStoreFailure })
      const calls: Record<typeof verb, () => Promise<Decision | Decision[]>> = {
        check: () => limiter.check('k', { deadlineMs: 20 }),
        'check, decides now': () => limiter.check('k', { deadlineMs: 20 }),
        peek: () => limiter.peek('k', { deadlineMs: 20 }),
        checkMany: () => limiter.checkMany([{ key: 'k' }, { key: 'l' }], { deadlineMs: 20 }),
      }
      const decisions = [await settlesAfter(clock, 23, calls[verb]())].flat()
      for (const decision of decisions) expect(decision).toMatchObject({ ...expected, degraded: TIMEOUT })
    }
  })

  it('refund, penalize, block, unblock, reset and ready reject', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit, store: silent(), clock, deadlineMs: 20 })
    for (const call of [
      () => limiter.refund('k'),
      () => limiter.penalize('k'),
      () => limiter.block('k', '1s'),
      () => limiter.unblock('k'),
      () => limiter.reset('k'),
    ])
      await expect(settlesAfter(clock, 23, call())).rejects.toMatchObject(TIMEOUT)
    await expect(settlesAfter(clock, 13, limiter.refund('k', { deadlineMs: 10 }))).rejects.toMatchObject(TIMEOUT)
    await expect(settlesAfter(clock, 5_003, limiter.ready())).rejects.toMatchObject(TIMEOUT)
  })

  it('an engine decides by the policy, and its operations on keys reject', async () => {
    const clock = manualClock()
    const engine = engineOver(silent(), clock, 'failure: { deadline: 20ms, policy: deny }')
    const undecided = { outcome: 'undecided', allowed: false, degraded: TIMEOUT, shadow: [{ rule: 's', outcome: 'undecided' }] }
    expect(await settlesAfter(clock, 23, engine.decide(FACTS))).toMatchObject(undecided)
    expect(await settlesAfter(clock, 23, engine.peek(FACTS))).toMatchObject(undecided)
    expect(await settlesAfter(clock, 8, engine.decideKey({ key: 'k' }, { deadlineMs: 5 }))).toMatchObject(undecided)
    expect(await settlesAfter(clock, 23, engine.decideMany([FACTS, FACTS]))).toMatchObject([undecided, undecided])
    engine.reload(parsePolicy('version: 1\nfailure: { deadline: 20ms }\nrules: [{ name: a, key: ["ip:address"], rate: 1/s, burst: 1 }]'))
    for (const call of [
      async () => void (await engine.inspectKey({ key: '192.0.2.1' })),
      () => engine.resetKey({ key: '192.0.2.1' }),
      () => engine.blockKey({ key: '192.0.2.1' }, '1s'),
    ])
      await expect(settlesAfter(clock, 23, call())).rejects.toMatchObject(TIMEOUT)
  })

  it('a deadline that nobody stated is settled a second after the call', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit, store: silent(), clock })
    expect(await settlesAfter(clock, 1_003, limiter.check('k'))).toMatchObject({ outcome: 'undecided', degraded: TIMEOUT })
    await expect(settlesAfter(clock, 1_003, limiter.reset('k'))).rejects.toMatchObject(TIMEOUT)
    expect(await settlesAfter(clock, 1_003, engineOver(silent(), clock).decide(FACTS))).toMatchObject({ outcome: 'undecided' })
  })

  it('a store on the clock of its caller is settled too', async () => {
    const clock = manualClock()
    const store = silent({ capabilities: { ...memoryStore().capabilities, clock: 'caller', sync: false } })
    const limiter = createLimiter({ limit, store, clock })
    expect(await settlesAfter(clock, 23, limiter.check('k', { deadlineMs: 20 }))).toMatchObject({ degraded: TIMEOUT })
  })

  it('a local fallback that never settles is settled too', async () => {
    const clock = manualClock()
    const limiter = createLimiter({ limit, store: silent(), clock, onStoreFailure: silent() })
    const call = limiter.check('k', { deadlineMs: 20 })
    clock.advance(23)
    await steps()
    // The deadline has passed for the local fallback as well.
    clock.advance(1)
    clock.advance(1)
    expect(await call).toMatchObject({ outcome: 'undecided', allowed: false, degraded: TIMEOUT })
  })

  it('a call whose caller has left ends as aborted, and the local fallback is not charged', async () => {
    const clock = manualClock()
    const local = memoryStore({ clock })
    const limiter = createLimiter({ limit, store: silent(), clock, onStoreFailure: local })
    const controller = new AbortController()
    const call = limiter.check('k', { deadlineMs: 20, signal: controller.signal })
    controller.abort()
    const decision = await settlesAfter(clock, 23, call)
    expect(decision).toMatchObject({ outcome: 'undecided', allowed: false, degraded: { kind: 'aborted', executed: 'unknown' } })
    expect(local.size).toBe(0)
  })

  it('drops a late answer', async () => {
    const clock = manualClock()
    const memory = memoryStore({ clock })
    const late = (): Promise<void> => new Promise((resolve) => void clock.after(30, resolve))
    const store = remoteMemory(memory, { decide: (groups) => late().then(() => memory.decide(groups)) })
    const limiter = createLimiter({ limit, store, clock })
    expect(await settlesAfter(clock, 23, limiter.check('k', { deadlineMs: 20 }))).toMatchObject({ outcome: 'undecided', degraded: TIMEOUT })
    clock.advance(100)
    await steps()
    expect(memory.size).toBe(1)
    expect(await settlesAfter(clock, 30, limiter.check('k', { deadlineMs: 40 }))).toMatchObject({ outcome: 'allowed', source: 'store' })
  })

  it('leaves no timer behind for a store that answers', async () => {
    const clock = manualClock()
    const timers = new Set<object>()
    const after: ManualClock['after'] = (ms, fn) => {
      const timer = {}
      timers.add(timer)
      const cancel = clock.after(ms, fn)
      return () => void (timers.delete(timer), cancel())
    }
    const limiter = createLimiter({ limit, store: remoteMemory(memoryStore({ clock })), clock: { ...clock, after }, deadlineMs: 5_000 })
    const call = limiter.check('k')
    expect(timers.size).toBe(1)
    expect(await call).toMatchObject({ outcome: 'allowed' })
    expect(timers.size).toBe(0)
  })
})
