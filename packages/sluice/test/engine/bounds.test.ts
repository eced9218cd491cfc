import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/policy.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import type { Rule } from '../../src/policy/model/rule.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'
import { StoreFailure } from '../../src/stores/store.ts'
import { manualClock } from '../../src/time/manual.ts'
import { facts } from './bench.ts'
import { remoteMemory } from '../remote-memory.ts'

const policy = (rule: string, more = ''): Policy =>
  parsePolicy(`version: 1\n${more}\nrules: [{ name: a, key: [], rate: 10/s, burst: 20, ${rule} }]\n`)
const ONE_SECOND = 'failure: { processes: 1, outage: 1s }'
const LARGE = 'overrides: [{ rule: a, key: [], rate: 1/s, burst: 500 }]'
const only = ({ rules: [rule] }: Policy): Rule => rule as Rule

describe('how far a rule can go over its limit', () => {
  it.each([
    ['deny', '', 'process', 0, 0],
    ['deny', '', 'shared', 0, 0],
    ['allow', '', 'process', 0, Infinity],
    ['allow', '', 'shared', 0, Infinity],
    ['local', '', 'process', 0, 0],
    ['local', '', 'shared', 0, Infinity],
    ['local', 'failure: { processes: 4 }', 'shared', 0, Infinity],
    // Four processes admit up to 20 + 10 * 60 tokens each. Meanwhile 600 tokens are refilled in the store, whose bucket keeps only 20 of them.
    ['local', 'failure: { processes: 4, outage: 1m }', 'shared', 0, 1_900],
    ['local', 'failure: { processes: 1, outage: 1s }', 'shared', 0, 30],
  ] as const)(
    'onStoreFailure %s, %s, on a store of kind %s: %d running, %d while it is away',
    (onStoreFailure, more, kind, running, storeDown) => {
      const read = policy(`onStoreFailure: ${onStoreFailure}`, more)
      expect(read.boundOf(only(read), kind)).toMatchObject({ running, storeDown })
    },
  )

  // In mode escrow, nothing is subtracted for a full bucket: if all stores are down, or a store's part of the limit is in another region,
  // no refill is lost.
  it.each([
    ['fixed', 'deny', '', 'shared', 0],
    ['escrow', 'deny', '', 'shared', 0],
    ['escrow', 'allow', '', 'shared', Infinity],
    ['fixed', 'local', '', 'process', 0],
    ['escrow', 'local', '', 'shared', Infinity],
    ['fixed', 'local', 'failure: { processes: 4, outage: 1m }', 'shared', 1_900],
    ['escrow', 'local', 'failure: { processes: 4, outage: 1m }', 'shared', 2_480],
  ] as const)('over regions in mode %s, onStoreFailure %s, %s, on a store of kind %s', (mode, onStoreFailure, more, kind, storeDown) => {
    const read = policy(`onStoreFailure: ${onStoreFailure}`, `regions: { peers: [eu, us], mode: ${mode} }\n${more}`)
    const bound = read.boundOf(only(read), kind)
    expect(bound).toMatchObject({ running: 0, storeDown })
    expect(bound.text).toMatch(/^over all regions together 0 while the store decides, /)
  })

  it('over regions is held by maxOvergrant, like every bound', () => {
    const down = 'failure: { processes: 4, outage: 1m }\nstore: redis://h\nregions: { peers: [eu, us], mode: '
    expect(policy('onStoreFailure: local, maxOvergrant: 1900', `${down}fixed }`).rules).toHaveLength(1)
    expect(() => policy('onStoreFailure: local, maxOvergrant: 1900', `${down}escrow }`)).toThrow('its bound on this store, 2480')
  })

  it('is no bound where chance counts', () => {
    const read = policy('sample: 2')
    expect(read.boundOf(only(read), 'process')).toMatchObject({ running: Infinity, storeDown: Infinity })
  })

  it('is the one of the widest tier', () => {
    const read = policy(
      'onStoreFailure: local, tiers: [{ when: { jwt:plan: pro }, rate: 1/s, burst: 500 }]',
      'failure: { processes: 1, outage: 1s }',
    )
    expect(read.boundOf(only(read), 'shared').storeDown).toBe(501)
  })

  it.each([
    ['a larger one', 'rule: a, key: [], rate: 1/s, burst: 500', 501, ', for the limit of an override'],
    ['a smaller one', 'rule: a, key: [], rate: 1/s, burst: 2', 30, '1000 ms'],
    ['one that has ended', 'rule: a, key: [], rate: 1/s, burst: 500, until: 2020-01-01T00:00:00Z', 501, 'override'],
    ['one of another rule', 'rule: b, key: x, rate: 1/s, burst: 500', 30, '1000 ms'],
  ])('counts an override of the policy as a limit of its rule: %s', (_what, override, storeDown, end) => {
    const read = parsePolicy(`version: 1
failure: { policy: local, processes: 1, outage: 1s }
rules: [{ name: a, key: [], rate: 10/s, burst: 20 }, { name: b, key: ["header:x"], rate: 10/s, burst: 20 }]
overrides: [{ rule: b, key: y, rate: 1/s, burst: 1 }, { ${override} }]`)
    const bound = read.boundOf(read.rules[0] as Rule, 'shared')
    expect(bound.storeDown).toBe(storeDown)
    expect(bound.text.endsWith(end)).toBe(true)
  })

  it('does not count overrides that were set at run time', () => {
    const rule = 'maxOvergrant: 30, onStoreFailure: local'
    const engine = createEngine({ policy: policy(rule, ONE_SECOND), store: remoteMemory() })
    engine.override({ rule: 'a', key: [], rate: '1/s', burst: 500 })
    engine.reload(policy(rule, ONE_SECOND))
    expect(engine.policy.boundOf(only(engine.policy), 'shared').storeDown).toBe(30)
  })

  it.each([
    ['onStoreFailure: allow, maxOvergrant: 100', 'store: "memory:"', '3:70: rules[0].maxOvergrant is 100 is below'],
    ['onStoreFailure: local, maxOvergrant: 0', 'store: redis://h', 'its bound on this store, unbounded'],
    ['sample: 2, maxOvergrant: 0', 'store: "memory:"', 'a matter of chance'],
    ['onStoreFailure: local, maxOvergrant: 30', `${ONE_SECOND}\nstore: redis://h\n${LARGE}`, 'its bound on this store, 501'],
  ])('above the budget of %s with %s it is refused when the policy is read', (rule, store, message) => {
    expect(() => policy(rule, store)).toThrow(message.slice(message.indexOf('rules')))
  })

  it.each([
    ['onStoreFailure: local, maxOvergrant: 0', 'store: "memory:"'],
    ['maxOvergrant: 0', 'store: redis://h'],
    ['onStoreFailure: allow, maxOvergrant: unbounded', 'store: redis://h'],
    ['onStoreFailure: allow, maxOvergrant: 0, mode: off', 'store: redis://h'],
    ['onStoreFailure: allow', 'store: redis://h'],
  ])('within the budget of %s with %s it loads', (rule, store) => {
    expect(policy(rule, store).rules).toHaveLength(1)
  })

  it('is checked again once the store is known, and a reload above it keeps the policy', () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const engine = createEngine({ policy: policy('maxOvergrant: 0, onStoreFailure: local'), store, clock })
    expect(() => engine.reload(policy('maxOvergrant: 0, onStoreFailure: allow'))).toThrow(/maxOvergrant of rule a is 0 is below its bound/)
    expect(only(engine.policy).onStoreFailure).toBe('local')
    const remote = remoteMemory(store)
    expect(() => createEngine({ policy: policy('maxOvergrant: 0, onStoreFailure: local'), store: remote, clock })).toThrow(
      /is below its bound/,
    )
    const within = policy('maxOvergrant: 30, onStoreFailure: local', ONE_SECOND)
    const away = createEngine({ policy: within, store: remote, clock })
    expect(() => away.reload(policy('maxOvergrant: 30, onStoreFailure: local', `${ONE_SECOND}\n${LARGE}`))).toThrow(
      'maxOvergrant of rule a is 30 is below its bound on this store, 501',
    )
  })

  it.each([
    ['the limit of the rule', '', 20, 10],
    ['an override', 'overrides: [{ rule: a, key: [], rate: 50/s, burst: 100 }]', 100, 50],
  ])(
    'is what really passes when the store fails and recovers, because a local fallback begins full: %s',
    async (_of, more, burst, rate) => {
      const clock = manualClock()
      const shared = memoryStore({ clock })
      let away = false
      const remote = remoteMemory(shared, {
        decide: (groups, options) => (away ? Promise.reject(new StoreFailure('connection', 'no', 'away')) : shared.decide(groups, options)),
      })
      const read = policy('onStoreFailure: local', `failure: { processes: 2, outage: 10s }\n${more}`)
      const processes = [0, 1].map(() => createEngine({ policy: read, store: remote, clock }))
      let admitted = 0
      const drain = async (): Promise<void> => {
        for (const engine of processes) while ((await engine.decide(facts())).allowed) admitted += 1
      }
      await drain()
      away = true
      for (let second = 0; second <= 10; second += 1) {
        await drain()
        if (second < 10) clock.advance(1_000)
      }
      away = false
      await drain()
      const limit = burst + rate * 10
      const bound = read.boundOf(only(read), 'shared').storeDown
      expect(admitted - limit).toBeLessThanOrEqual(bound)
      expect(admitted - limit).toBe(bound)
    },
  )
})
