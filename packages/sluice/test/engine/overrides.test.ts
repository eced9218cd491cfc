import { describe, expect, it } from 'vitest'
import { parsePolicy } from '../../src/policy/parse.ts'
import { bench, facts } from './bench.ts'

const RULES = `
rules:
  - name: per-key
    key: ["header:x-key"]
    tiers:
      - { when: { jwt:plan: pro }, rate: 1/s, burst: 4 }
      - { rate: 1/s, burst: 2 }
  - { name: net, key: ["ip:address", "method:"], rate: 1/s, burst: 100 }
`
const by = (key: string, more: object = {}): ReturnType<typeof facts> => facts({ headers: { 'x-key': key }, ...more })

describe('overrides', () => {
  it('replace the limit of one key, in every tier, until their instant', async () => {
    const { engine, clock } = bench(`${RULES}
overrides:
  - { rule: per-key, key: big, rate: 10/s, burst: 50, until: 2100-01-01T00:00:00Z }
  - { rule: net, key: ["2001:DB8::1", get], rate: 1/s, burst: 7 }
  - { rule: per-key, key: [null], rate: 1/s, burst: 1 }
`)
    const limitOf = async (name: string, request: ReturnType<typeof facts>): Promise<number | undefined> =>
      (await engine.peek(request)).limits.find((limit) => limit.name === name)?.limit
    expect(await limitOf('per-key', by('big'))).toBe(50)
    expect(await limitOf('per-key', by('big', { claims: { plan: 'pro' } }))).toBe(50)
    expect(await limitOf('per-key', by('other'))).toBe(2)
    expect(await limitOf('per-key', facts())).toBe(1)
    expect(await limitOf('net', facts({ ip: '2001:db8::99' }))).toBe(7)
    expect(await limitOf('net', facts({ ip: '2001:db8::99', method: 'POST' }))).toBe(100)
    expect((await engine.explain(by('big'))).rules[0]).toMatchObject({ overridden: true, limit: { capacity: 50 } })
    clock.advance(4_102_444_800_000 - clock.now() / 1_000)
    expect(await limitOf('per-key', by('big'))).toBe(2)
  })

  it('keep what the key has left: nobody gets a burst by being given another limit', async () => {
    const { engine } = bench(RULES)
    await engine.decide(by('a'))
    engine.override({ rule: 'per-key', key: 'a', rate: '1/s', burst: 10 })
    expect(await engine.decide(by('a'))).toMatchObject({ allowed: true, limits: [{ limit: 10, remaining: 0 }, {}] })
    expect(await engine.decide(by('a'))).toMatchObject({ allowed: false, limitName: 'per-key' })
  })

  it('are set, listed and taken back while the engine runs, go before those of the file, and outlive a reload', async () => {
    const file = `${RULES}overrides: [{ rule: per-key, key: a, rate: 1/s, burst: 20 }]\n`
    const { engine, clock } = bench(file)
    const capacity = async (): Promise<number | undefined> =>
      (await engine.peek(by('a'))).limits.find(({ name }) => name === 'per-key')?.limit
    expect(await capacity()).toBe(20)
    const set = engine.override({ rule: 'per-key', key: 'a', rate: '1/s', burst: '30', until: '2100-01-01T00:00:00Z' })
    expect(set).toMatchObject({ rule: 'per-key', values: ['a'], until: 4_102_444_800_000_000 })
    expect(await capacity()).toBe(30)
    engine.reload(parsePolicy(`version: 1\n${file}`))
    expect(await capacity()).toBe(30)
    expect(engine.overrides()).toEqual([set])
    expect(engine.withdraw(set)).toBe(true)
    expect(engine.withdraw(set)).toBe(false)
    expect(await capacity()).toBe(20)
    engine.override({ rule: 'per-key', key: 'a', rate: '1/s', burst: 40, until: '2100-01-01T00:00:00Z' })
    clock.advance(4_102_444_800_000 - clock.now() / 1_000)
    expect([await capacity(), engine.overrides()]).toEqual([20, []])
  })

  it.each([
    [{}, /override\.rule is missing.*override\.key is missing/],
    [{ rule: 'none', key: 'k', rate: '1/s', burst: 1 }, /override\.rule is "none": expected one of per-key, net/],
    [{ rule: 'per-key', key: ['s3cret', 'b'], rate: '1/s', burst: 1 }, /override\.key has 2 values: expected 1 \(header:x-key\)/],
    [{ rule: 'net', key: ['s3cret', 'GET'], rate: '1/s', burst: 1 }, /override\.key 1 is not a value of ip:address/],
    [{ rule: 'per-key', key: 's3cret', rate: '0/s', burst: 1 }, /override\.rate is "0\/s"/],
    [{ rule: 'per-key', key: 's3cret', rate: '1/s', burst: -1 }, /override\.burst is -1/],
    [{ rule: 'per-key', key: 's3cret', rate: '1/s', burst: Number.POSITIVE_INFINITY }, /override\.burst is Infinity/],
    [{ rule: 'per-key', key: 's3cret', rate: '1/s', burst: 1, until: '2026-02-30T00:00:00Z' }, /override\.until is "2026-02-30T00:00:00Z"/],
    [{ rule: 'per-key', key: 's3cret', rate: '1/s', burst: 1, colour: 'red' }, /override\.colour is unknown/],
    [JSON.parse('{"__proto__": 1}'), /override\.__proto__ is unknown/],
    [null, /override is empty: expected a map/],
  ])('%j is refused, and no message shows a key', (fields, message) => {
    const { engine } = bench(RULES)
    const act = (): unknown => engine.override(fields as never)
    const code = (fields as { rule?: string } | null)?.rule === 'none' ? 'UNKNOWN_RULE' : 'INVALID_OPTIONS'
    expect(act).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    expect(act).not.toThrow(/s3cret/)
    expect(engine.overrides()).toEqual([])
  })

  it('are bounded in number, expired ones not counted', () => {
    const { engine, clock } = bench(RULES)
    const set = (key: number, until: string): unknown => engine.override({ rule: 'per-key', key, rate: '1/s', burst: 1, until })
    for (let key = 0; key < 10_000; key += 1) set(key, '2100-01-01T00:00:00Z')
    expect(() => set(-1, '2101-01-01T00:00:00Z')).toThrow(/there are 10000 already/)
    expect(() => set(5, '2101-01-01T00:00:00Z')).not.toThrow()
    clock.advance(4_102_444_800_000 - clock.now() / 1_000)
    set(-1, '2101-01-01T00:00:00Z')
    expect(engine.overrides()).toHaveLength(2)
  })

  it.each([
    ['[{ rule: nope, key: a, rate: 1/s, burst: 1 }]', 'overrides[0].rule is "nope": expected one of per-key, net'],
    ['[{ rule: per-key, key: [s3cret, b], rate: 1/s, burst: 1 }]', 'overrides[0].key has 2 values: expected 1'],
    ['[{ rule: per-key, key: s3cret }]', 'overrides[0].rate is missing'],
    ['[{ rule: per-key, key: s3cret, limit: 5, window: 1m }]', 'overrides[0].limit is not a field of token-bucket'],
    [
      '[{ rule: per-key, key: s3cret, rate: 1/s, burst: 1 }, { rule: per-key, key: [s3cret], rate: 2/s, burst: 1 }]',
      'overrides[1] is about the key of overrides[0]',
    ],
    [
      '[{ rule: net, key: ["2001:db8::1", GET], rate: 1/s, burst: 1 }, { rule: net, key: ["2001:db8::/64", get], rate: 2/s, burst: 1 }]',
      'overrides[1] is about the key of overrides[0]',
    ],
  ])('of a file: %s is refused', (list, message) => {
    const act = (): unknown => parsePolicy(`version: 1\n${RULES}overrides: ${list}\n`)
    expect(act).toThrow(message)
    expect(act).not.toThrow(/s3cret/)
  })

  it.each([
    ['a bigint', 10n, 'is a bigint'],
    ['a symbol', Symbol('x'), 'is a symbol'],
    ['a function', () => 1, 'is a function'],
    ['no number', Number.NaN, 'is NaN'],
    ['an infinite number', -Infinity, 'is -Infinity'],
    ['a truth value', true, 'is true'],
  ])('U3: %s as a key is refused, and not the override of every request without the key', async (_what, key, said) => {
    const { engine } = bench(RULES)
    for (const [value, place] of [
      [key, 'override.key'],
      [[key], 'override.key[0]'],
    ] as const)
      expect(() => engine.override({ rule: 'per-key', key: value as never, rate: '9/s', burst: 9 })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTIONS',
          message: `${place} ${said}: expected a text, a finite number, null where requests have no value, or a list of these`,
        }),
      )
    for (const field of ['rule', 'rate', 'burst', 'limit', 'until'])
      if (typeof key !== 'boolean')
        expect(() => engine.override({ rule: 'per-key', key: 'a', rate: '9/s', burst: 9, [field]: key })).toThrow(
          expect.objectContaining({ code: 'INVALID_OPTIONS', message: expect.stringContaining(`override.${field} ${said}`) }),
        )
    expect(engine.overrides()).toEqual([])
    expect((await engine.peek(facts())).limits.find(({ name }) => name === 'per-key')?.limit).toBe(2)
  })

  it('U3: null is still the key of requests without one, and undefined in a list is refused', async () => {
    const { engine } = bench(RULES)
    expect(() => engine.override({ rule: 'per-key', key: [undefined as never], rate: '9/s', burst: 9 })).toThrow(
      'override.key[0] is undefined',
    )
    engine.override({ rule: 'per-key', key: [null], rate: '9/s', burst: 9 })
    expect((await engine.peek(facts())).limits.find(({ name }) => name === 'per-key')?.limit).toBe(9)
    engine.override({ rule: 'per-key', key: 5, rate: '9/s', burst: 8 })
    expect((await engine.peek(by('5'))).limits.find(({ name }) => name === 'per-key')?.limit).toBe(8)
  })
})
