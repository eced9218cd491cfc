import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import { regionalStore } from '../../src/regions.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { type Change, type Store, StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { remoteMemory } from '../remote-memory.ts'
import { bench, facts } from './bench.ts'

const RULES = `
rules:
  - { name: global, key: [], rate: 100/s, burst: 10 }
  - name: per-key
    key: ["header:x-key", "ip:address"]
    tiers:
      - { when: { header:x-plan: big }, rate: 10/s, burst: 100 }
      - { rate: 1/s, burst: 3 }
  - { name: seen, key: ["header:x-key"], rate: 1/s, burst: 5, mode: shadow }
  - { name: quiet, key: ["header:x-key"], rate: 1/s, burst: 5, mode: 'off' }
`
const by = (key: string, more: Record<string, string> = {}) => {
  const { ip: _, ...unknown } = facts({ headers: { 'x-key': key, ...more } })
  return unknown
}

describe('a key, for an operator', () => {
  it('shows what is left in every rule and tier, and charges nothing', async () => {
    const { engine, clock } = bench(RULES)
    await engine.decide(by('a'))
    await engine.decide(by('a'))
    await engine.decide(by('b'))
    const shown = await engine.inspectKey({ key: 'a' })
    expect(await engine.inspectKey({ key: 'a' })).toEqual(shown)
    expect(shown.map(({ name, tier, remaining, fresh, state }) => [name, tier, remaining, fresh, state])).toEqual([
      ['per-key', 'header:x-plan=big', 100, true, 'policy:per-key%0023header%003ax-plan=big:tb:=a:-'],
      ['per-key', '', 1, false, 'policy:per-key:tb:=a:-'],
      ['seen', '', 3, false, 'policy:seen:tb:=a'],
    ])
    expect(shown[1]).toEqual({
      name: 'per-key',
      tier: '',
      source: 'header:x-key',
      algorithm: 'token-bucket',
      state: 'policy:per-key:tb:=a:-',
      limit: 3,
      remaining: 1,
      replenishAfterMs: 1_000,
      resetAfterMs: 2_000,
      windowMs: 3_000,
      fresh: false,
    })
    clock.advance(2_000)
    expect((await engine.inspectKey({ key: 'a', limit: 'per-key' })).every(({ fresh }) => fresh)).toBe(true)
  })

  it('is found under every source that may be first', async () => {
    const policy = parsePolicy(
      'rate_limits:\n  global: { capacity: 9, refill_rate: 1 }\n  tenants:\n    default: { capacity: 5, refill_rate: 1 }\n',
    )
    const clock = manualClock()
    const engine = createEngine({ policy, store: memoryStore({ clock }), clock })
    await engine.decide(facts({ ip: '192.0.2.9' }))
    const shown = await engine.inspectKey({ key: '192.0.2.9' })
    expect(shown.map(({ source, remaining }) => [source, remaining])).toEqual([
      ['jwt:sub', 5],
      ['ip:address', 4],
    ])
    await engine.resetKey({ key: '192.0.2.9' })
    expect((await engine.inspectKey({ key: '192.0.2.9' })).map(({ remaining }) => remaining)).toEqual([5, 5])
  })

  it('is forgotten in one rule, or in all, and no other key is', async () => {
    const { engine } = bench(RULES)
    for (const key of ['a', 'b']) for (let sent = 0; sent < 3; sent += 1) await engine.decide(by(key))
    await engine.resetKey({ key: 'a', limit: 'seen' })
    expect(await engine.peek(by('a'))).toMatchObject({ outcome: 'denied' })
    await engine.resetKey({ key: 'a' })
    expect(await engine.peek(by('a'))).toMatchObject({ outcome: 'allowed' })
    expect(await engine.peek(by('b'))).toMatchObject({ outcome: 'denied' })
  })

  it('is denied while it is blocked, in every tier, and a reset does not lift the block', async () => {
    const { engine, clock } = bench(RULES)
    await engine.blockKey({ key: 'a' }, '1h')
    for (const headers of [{}, { 'x-plan': 'big' }])
      expect(await engine.decide(by('a', headers))).toMatchObject({ outcome: 'denied', reason: 'blocked', retryAfterMs: 3_600_000 })
    expect(await engine.decide(by('b'))).toMatchObject({ outcome: 'allowed' })
    await engine.resetKey({ key: 'a' })
    expect((await engine.inspectKey({ key: 'a' })).map(({ blockedForMs }) => blockedForMs)).toEqual([3_600_000, 3_600_000, 3_600_000])
    await engine.blockKey({ key: 'a' }, null)
    expect(await engine.decide(by('a'))).toMatchObject({ outcome: 'allowed' })
    await engine.blockKey({ key: 'a', limit: 'per-key' }, 1_000)
    clock.advance(1_000)
    expect(await engine.decide(by('a'))).toMatchObject({ outcome: 'allowed' })
  })

  it.each([
    { rate: '5/s', burst: 5 },
    { algorithm: 'fixed-window', limit: 5, window: '1h' },
    { algorithm: 'sliding-window-counter', limit: 5, window: '1h' },
    { algorithm: 'sliding-window-log', limit: 5, window: '1h' },
    { algorithm: 'concurrency', limit: 5, hold: '1m' },
  ])('is blocked and unblocked whichever algorithm counts it: $algorithm', async (limit) => {
    const { engine, clock } = bench(RULES)
    const reasonOf = async () => (await engine.peek(by('a'))).reason
    const blocks = async () => (await engine.inspectKey({ key: 'a', limit: 'per-key' })).map(({ blockedForMs }) => blockedForMs)
    await engine.blockKey({ key: 'a' }, '1h')
    const until = new Date(clock.now() / 1_000 + 60_000).toISOString()
    engine.override({ rule: 'per-key', key: ['a', null], until, ...limit })
    expect([await reasonOf(), await blocks()]).toEqual(['blocked', [3_600_000, 3_600_000]])
    await engine.blockKey({ key: 'a' }, '2h')
    clock.advance(60_000)
    expect([await reasonOf(), await blocks()]).toEqual(['blocked', [7_140_000, 7_140_000]])
    const rule = Object.entries({ name: 'per-key', key: '["header:x-key", "ip:address"]', ...limit }).map((field) => field.join(': '))
    engine.reload(parsePolicy(`version: 1\nrules: [{ ${rule.join(', ')} }]`))
    expect([await reasonOf(), await blocks()]).toEqual(['blocked', [7_140_000]])
    await engine.blockKey({ key: 'a' }, null)
    engine.reload(parsePolicy(`version: 1\n${RULES}`))
    expect(await reasonOf()).toBe(undefined)
  })

  it('is blocked first under the algorithms that count it, if the store is nearly full', async () => {
    const { engine } = bench(RULES, {}, 3)
    await expect(engine.blockKey({ key: 'a' }, '1h')).rejects.toMatchObject({ kind: 'memory' })
    expect((await engine.inspectKey({ key: 'a' })).map(({ blockedForMs }) => blockedForMs)).toEqual([3_600_000, 3_600_000, 3_600_000])
  })

  it.each([
    ['is used up', { limit: 5, cost: 5 }],
    ['has less than one token', { limit: 0.5, cost: 0.1 }],
  ])('shows how long it is blocked, also if its limit %s', async (_, { limit, cost }) => {
    const { engine, clock } = bench(`
rules:
  - { name: spend, key: ["header:x-key"], algorithm: fixed-window, limit: ${limit}, window: 24h, align: first, cost: 0.1 }
`)
    await engine.decideKey({ key: 'a', cost })
    await engine.blockKey({ key: 'a' }, '10s')
    clock.advance(1_000)
    expect(await engine.inspectKey({ key: 'a' })).toMatchObject([{ blockedForMs: 9_000 }])
    clock.advance(9_000)
    expect((await engine.inspectKey({ key: 'a' }))[0]).not.toHaveProperty('blockedForMs')
  })

  it('shows how long it is blocked in a region that holds no units', async () => {
    const store = regionalStore({ store: memoryStore(), self: 'eu', peers: ['us'], mode: 'escrow' })
    const { engine } = bench(RULES, { store })
    await engine.blockKey({ key: 'a', limit: 'seen' }, '1h')
    expect(await engine.inspectKey({ key: 'a', limit: 'seen' })).toMatchObject([{ remaining: 0, blockedForMs: expect.any(Number) }])
    await engine.blockKey({ key: 'a' }, '1h')
    expect(await engine.peek(by('a'))).toMatchObject({ outcome: 'denied', reason: 'blocked' })
  })

  it.each([
    ['entries of logs', { algorithm: 'sliding-window-log', limit: 100, window: '1h' }, 64],
    ['slots', { algorithm: 'concurrency', limit: 10, hold: '1m' }, 360],
  ])('is shown also by a store that has no room for more %s', async (_, limit, maxBytes) => {
    const clock = manualClock()
    const store = memoryStore({ clock, maxBytes })
    const fields = Object.entries({ name: 'user', key: '["header:x-key"]', ...limit }).map((field) => field.join(': '))
    const { engine } = bench(`rules: [{ ${fields.join(', ')} }]`, { store, clock })
    let sent = 0
    while ((await engine.decide(by('a'))).outcome === 'allowed') {
      sent += 1
      clock.advance(1)
    }
    expect((await engine.decide(by('a'))).outcome).toBe('undecided')
    expect(await engine.inspectKey({ key: 'a' })).toMatchObject([{ remaining: limit.limit - sent }])
    expect((await engine.inspectKey({ key: 'b' }))[0]).toMatchObject({ remaining: limit.limit, fresh: true })
    await engine.blockKey({ key: 'a' }, '1h')
    expect(await engine.inspectKey({ key: 'a' })).toMatchObject([{ blockedForMs: expect.any(Number) }])
  })

  it('is refused where it is not one, and where a rule or a length is not one', async () => {
    const { engine } = bench(RULES)
    const wrong: [() => Promise<unknown>, string, string][] = [
      [() => engine.inspectKey({ key: '' }), 'INVALID_KEY', 'key is ""'],
      [
        () => engine.resetKey({ key: 'a', limit: 'nope' }),
        'UNKNOWN_RULE',
        'limit is "nope", expected a rule with a key: per-key, seen, quiet',
      ],
      [() => engine.inspectKey({ key: 'a', limit: 'global' }), 'INVALID_OPTIONS', 'limit is "global", expected a rule with a key'],
      [() => engine.blockKey({ key: 'a' }, '1 fortnight'), 'INVALID_DURATION', '"1 fortnight" is not a duration'],
      [() => engine.blockKey({ key: 'a' }, -1), 'INVALID_DURATION', '-1 is not a duration'],
    ]
    for (const [run, code, message] of wrong) await expect(run()).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
    const { engine: keyless } = bench('rules:\n  - { name: global, key: [], rate: 1/s, burst: 1 }')
    expect(await keyless.inspectKey({ key: 'a' })).toEqual([])
    await engine.close()
    await expect(engine.inspectKey({ key: 'a' })).rejects.toMatchObject({ code: 'CLOSED' })
  })

  it('says that a store cannot, instead of inventing what is left', async () => {
    const failure = new StoreFailure('connection', 'no', 'gone')
    const gone = failing(failure, ['reset'])
    const engine = createEngine({ policy: parsePolicy(`version: 1\nfailure: { policy: allow }\n${RULES}`), store: gone })
    await expect(engine.inspectKey({ key: 'a' })).rejects.toBe(failure)
    await expect(engine.resetKey({ key: 'a' })).rejects.toBe(failure)
    await expect(engine.blockKey({ key: 'a' }, '1s')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
    await expect(engine.blockKey({ key: 'a' }, null)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' })
  })

  it('says so too if the store failed for one of the states alone', async () => {
    const failure = new StoreFailure('contention', 'no', 'locked')
    const memory = memoryStore()
    const one = remoteMemory(memory, {
      decide: async (groups, options) => [...(await memory.decide(groups, options)).slice(1), { failure }],
      change: async (changes) => changes.map((_, index) => (index === 1 ? { failure } : {})),
    })
    const engine = createEngine({ policy: parsePolicy(`version: 1\n${RULES}`), store: one })
    await expect(engine.inspectKey({ key: 'a' })).rejects.toBe(failure)
    await expect(engine.resetKey({ key: 'a' })).rejects.toBe(failure)
  })

  /** A store whose every call fails with this failure, and which supports these kinds of changes. */
  function failing(failure: StoreFailure, changes: readonly Change['kind'][]): Store {
    const fail = (): Promise<never> => Promise.reject(failure)
    return remoteMemory(memoryStore(), { capabilities: { ...remoteMemory().capabilities, changes }, decide: fail, change: fail })
  }
})
