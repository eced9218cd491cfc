import { describe, expect, it } from 'vitest'
import {
  createLimiter,
  type DecisionEvent,
  type FailurePolicy,
  memoryStore,
  type Store,
  StoreFailure,
  tokenBucket,
} from '../../src/index.ts'
import { createStoreCaller } from '../../src/limiter/call-store.ts'
import { decideGroups, type Resolved } from '../../src/limiter/on-failure.ts'
import type { CallGroup, DecideOptions } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { systemTime } from '../../src/time/system.ts'
import { remoteMemory, switchable } from '../remote-memory.ts'

const limit = tokenBucket({ rate: '1/day', burst: 2 })
const failure = new StoreFailure('timeout', 'unknown', 'no answer')

function group(key: string): CallGroup {
  return { calls: [{ id: { scope: { text: 'f:' }, key }, limit, cost: 1_000_000, phase: 0 }] }
}

/** Decides groups under one policy, or under one for each. */
function resolve(
  store: Store,
  policies: FailurePolicy | readonly FailurePolicy[],
  local: Store | undefined,
  groups: readonly CallGroup[],
  options: DecideOptions = {},
): Promise<readonly Resolved[]> {
  const deciders = {
    main: createStoreCaller(store, systemTime),
    local: local === undefined ? undefined : createStoreCaller(local, systemTime),
  }
  const policyAt = (index: number) => (typeof policies === 'string' ? policies : (policies[index] as FailurePolicy))
  return decideGroups(deciders, groups, policyAt, options)
}

const outcomeOf = (one: Resolved | undefined) => [one?.outcome, one?.outcome === 'undecided' ? one.allowed : one?.outcome === 'allowed']

describe('a group that the store did not decide', () => {
  it.each([
    ['deny', { outcome: 'undecided', allowed: false }],
    ['allow', { outcome: 'undecided', allowed: true }],
    ['local', { outcome: 'allowed', calls: [{ remaining: 1 }] }],
  ] as const)('%s: is answered by the policy, and marked', async (policy, expected) => {
    const [resolved] = await resolve(switchable().store, policy, memoryStore(), [group('k')])
    expect(resolved).toMatchObject({ ...expected, source: 'fallback', degraded: failure })
  })

  it('has a policy of its own', async () => {
    const groups = [group('k'), group('k'), group('k')]
    const resolved = await resolve(switchable().store, ['deny', 'allow', 'local'], memoryStore(), groups)
    expect(resolved.map(outcomeOf)).toEqual([
      ['undecided', false],
      ['undecided', true],
      ['allowed', true],
    ])
  })

  it('has no time and no limits: nothing is invented', async () => {
    const [resolved] = await resolve(switchable().store, 'deny', undefined, [group('k')])
    expect(Object.keys(resolved ?? {}).sort()).toEqual(['allowed', 'degraded', 'outcome', 'source'])
  })

  it('is refused under local without a local fallback', async () => {
    expect((await resolve(switchable().store, 'local', undefined, [group('k')])).map(outcomeOf)).toEqual([['undecided', false]])
  })

  it('is refused under local if its caller has aborted, and nothing is charged', async () => {
    const [local, aborted] = [memoryStore(), new StoreFailure('aborted', 'unknown', 'left')]
    const [resolved] = await resolve(switchable(aborted).store, 'local', local, [group('k')])
    expect(resolved).toMatchObject({ outcome: 'undecided', allowed: false, degraded: aborted })
    // A store that ignores the signal fails for another reason.
    const controller = new AbortController()
    const deaf = remoteMemory(memoryStore(), {
      decide: async () => {
        controller.abort()
        throw failure
      },
    })
    const [failed] = await resolve(deaf, 'local', local, [group('k')], { signal: controller.signal })
    expect(failed).toMatchObject({ outcome: 'undecided', allowed: false, degraded: failure })
    expect(local.size).toBe(0)
  })

  it('local counts on while the store is away, and the store decides again as soon as it is back', async () => {
    const [remote, local] = [switchable(), memoryStore()]
    const once = async () => (await resolve(remote.store, 'local', local, [group('k')]))[0]
    const outcomes: unknown[] = []
    for (let index = 0; index < 3; index += 1) outcomes.push((await once())?.outcome)
    expect(outcomes).toEqual(['allowed', 'allowed', 'denied'])
    remote.fail = false
    const resolved = await once()
    expect(resolved).toMatchObject({ outcome: 'allowed' })
    expect(resolved).not.toHaveProperty('degraded')
    expect(resolved).not.toHaveProperty('source')
  })

  it('does not change the others', async () => {
    const groups = [group('a'), group('b'), group('a')]
    const resolved = await resolve(memoryStore({ maxKeys: 1 }), 'allow', undefined, groups)
    expect(resolved.map(outcomeOf)).toEqual([
      ['allowed', true],
      ['undecided', true],
      ['allowed', true],
    ])
    expect(resolved[1]).toMatchObject({ source: 'fallback', degraded: { kind: 'memory', executed: 'no' } })
    expect(resolved[2]).not.toHaveProperty('degraded')
  })

  it.each(['allow', 'deny'] as const)('R5: follows onFull (%s), whatever the policy', async (onFull) => {
    const store = memoryStore({ maxKeys: 1, onFull })
    await store.decide([group('a')])
    for (const policy of ['allow', 'deny', 'local'] as const) {
      const [resolved] = await resolve(store, policy, memoryStore(), [group('b')])
      expect(resolved).toMatchObject({ outcome: 'undecided', allowed: onFull === 'allow', source: 'store', degraded: { kind: 'memory' } })
    }
  })

  it.each([
    ['at once', (local: Store) => local],
    ['later', (local: Store) => remoteMemory(local)],
  ])('is refused if the local fallback fails too (%s), which is the failure reported', async (_, wrap) => {
    const local = wrap(memoryStore({ maxKeys: 1 }))
    const decided = await resolve(switchable().store, 'local', local, [group('a')])
    expect(decided).toMatchObject([{ outcome: 'allowed', source: 'fallback', degraded: failure }])
    const refused = await resolve(switchable().store, 'local', local, [group('b')])
    expect(refused).toMatchObject([{ outcome: 'undecided', allowed: false, source: 'fallback', degraded: { kind: 'memory' } }])
  })

  it('follows the onFull of a full local fallback', async () => {
    const local = memoryStore({ maxKeys: 1, onFull: 'allow' })
    const resolved = await resolve(switchable().store, ['local', 'local'], local, [group('a'), group('b')])
    expect(resolved.map(outcomeOf)).toEqual([
      ['allowed', true],
      ['undecided', true],
    ])
  })

  it('is a peek of the local fallback too', async () => {
    const local = memoryStore()
    for (let index = 0; index < 3; index += 1) {
      const peeked = await resolve(switchable().store, 'local', local, [group('k')], { charge: false })
      expect(peeked).toMatchObject([{ outcome: 'allowed', calls: [{ remaining: 2 }], source: 'fallback' }])
    }
    expect(local.size).toBe(0)
  })

  it.each([
    ['the store', switchable(new TypeError('a bug')).store, memoryStore()],
    ['the local fallback', switchable().store, switchable(new TypeError('a bug')).store],
  ])('rejects for an error of %s that is no StoreFailure: it is a defect', async (_, store, local) => {
    await expect(resolve(store, 'local', local, [group('k')])).rejects.toThrow(TypeError)
  })
})

describe('a store that returns what makes no sense', () => {
  const call = { outcome: 'allowed', retryAfter: 0, remaining: 1, replenishAfter: 0, resetAfter: 0 } as const
  const good = { outcome: 'allowed', at: 1, calls: [call] } as const

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['no list', { 0: good }],
    ['too few verdicts', []],
    ['no verdict', [null]],
    ['a text', ['allowed']],
    ['a verdict without an outcome', [{ ...good, outcome: undefined }]],
    ['an unknown outcome', [{ ...good, outcome: 'undecided' }]],
    ['no time', [{ ...good, at: Number.NaN }]],
    ['no calls', [{ outcome: 'allowed', at: 1 }]],
    ['too few calls', [{ ...good, calls: [] }]],
    ['calls without numbers', [{ ...good, calls: [{ ...call, remaining: Number.NaN }] }]],
    ['a wait that is no number', [{ ...good, retryAfter: 'soon' }]],
    ['a denial of no call', [{ ...good, outcome: 'denied' }]],
    ['an error that is not a StoreFailure', [{ failure: new Error('broken') }]],
  ])('%s: is a failure, and the policy answers', async (_, verdicts) => {
    for (const now of [true, false]) {
      const verdict = Array.isArray(verdicts) ? (verdicts[0] as never) : undefined
      // The limiter trusts a store that decides at once: it does not check a verdict with the right number of calls. So only other verdicts
      // are returned at once here.
      const members = now && (verdict as Partial<typeof good> | undefined)?.calls?.length !== 1 ? { decideNow: () => verdict as never } : {}
      const store = remoteMemory(memoryStore(), { name: 'odd', decide: async () => verdicts as never, ...members })
      for (const onStoreFailure of ['deny', 'allow'] as const) {
        const limiter = createLimiter({ limit, store, onStoreFailure })
        expect(await limiter.check('k')).toEqual({
          outcome: 'undecided',
          allowed: onStoreFailure === 'allow',
          limits: [],
          at: expect.any(Number),
          atMicros: expect.any(Number),
          source: 'fallback',
          degraded: { kind: 'protocol', executed: 'unknown', message: expect.stringContaining('odd: ') },
        })
      }
    }
  })

  it('fails only the groups without a verdict', async () => {
    const store = remoteMemory(memoryStore(), { decide: async () => [good, { ...good, calls: [] }] })
    const resolved = await resolve(store, 'deny', undefined, [group('a'), group('b'), group('c')])
    expect(resolved.map(outcomeOf)).toEqual([
      ['allowed', true],
      ['undecided', false],
      ['undecided', false],
    ])
  })
})

describe('onStoreFailure of a limiter', () => {
  it.each([
    ['deny', 'undecided', false],
    ['allow', 'undecided', true],
    ['local', 'allowed', true],
  ] as const)('%s: peek answers what check would', async (onStoreFailure, outcome, allowed) => {
    const limiter = createLimiter({ limit, store: switchable().store, onStoreFailure })
    for (let index = 0; index < 3; index += 1) {
      expect(await limiter.peek('k')).toMatchObject({ outcome, allowed, degraded: { kind: 'timeout' } })
    }
    expect(await limiter.check('k')).toMatchObject({ outcome, allowed })
  })

  it('refuses, if a full memory store has no other', async () => {
    for (const onStoreFailure of ['local', 'deny'] as const) {
      const limiter = createLimiter({ limit, store: memoryStore({ maxKeys: 1 }), onStoreFailure })
      limiter.checkSync('a')
      const refused = { outcome: 'undecided', allowed: false, source: 'fallback', degraded: { kind: 'memory', executed: 'no' } }
      expect(limiter.checkSync('b')).toMatchObject(refused)
      expect(await limiter.check('b')).toMatchObject(refused)
      expect(await limiter.checkMany([{ key: 'a' }, { key: 'b' }])).toMatchObject([{ outcome: 'allowed' }, refused])
    }
  })

  it('may be a store of its own, which decides also for a full memory store', async () => {
    for (const onStoreFailure of [memoryStore(), remoteMemory()]) {
      const limiter = createLimiter({ limit, store: memoryStore({ maxKeys: 1 }), onStoreFailure })
      limiter.checkSync('a')
      const decided = { outcome: 'allowed', source: 'fallback', degraded: { kind: 'memory' } }
      expect(await limiter.check('b')).toMatchObject({ ...decided, limits: [{ remaining: 1 }] })
      expect(await limiter.check('b')).toMatchObject({ ...decided, limits: [{ remaining: 0 }] })
      expect(await limiter.check('b')).toMatchObject({ outcome: 'denied', source: 'fallback' })
      // A store that is called later cannot decide now.
      const { sync } = onStoreFailure.capabilities
      expect(limiter.checkSync('c')).toMatchObject(sync ? decided : { outcome: 'undecided', allowed: false, degraded: { kind: 'memory' } })
    }
  })

  it('is reported to observers in the same way, whether the store decides now or later', async () => {
    const events: unknown[] = []
    const observers = [{ onDecision: ({ decision, results, store }: DecisionEvent) => void events.push({ decision, results, store }) }]
    const clock = manualClock()
    const open = (maxKeys: number) => memoryStore({ maxKeys, clock })
    for (const store of [open(1), remoteMemory(open(1), { name: 'memory' })]) {
      const limiter = createLimiter({ limit, store, onStoreFailure: open(9), observers, clock })
      for (const key of ['a', 'a', 'a', 'b', 'b', 'b']) await limiter.check(key)
    }
    expect(events).toHaveLength(12)
    expect(events.slice(6)).toEqual(events.slice(0, 6))
  })
})
