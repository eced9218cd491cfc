import { expect, test } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { createEngine, type Override, parsePolicy } from '../../src/policy.ts'
import { draws } from '../draws.ts'

const RULES =
  'version: 1\nrules: [{ name: net, key: ["ip:address", "method:"], rate: 1/s, burst: 1 }, { name: user, key: ["header:x"], rate: 1/s, burst: 1 }]\n'

/** Counts how often anything of an override is read. */
function watched(override: Override, seen: () => void): Override {
  for (const [name, value] of Object.entries(override))
    Object.defineProperty(override, name, {
      enumerable: true,
      get() {
        seen()
        return value
      },
    })
  return override
}

test.each([
  ['set while the engine runs', 10_000],
  // As many as a policy has room for.
  ['of the policy', draws(4_000, 400)],
])('R16: of the overrides %s (%i) only those of the key are looked at', (where, many) => {
  let reads = 0
  const seen = (): void => void (reads += 1)
  const lines = Array.from({ length: many - 1 }, (_, index) => ({ rule: 'user', key: `k${index}`, rate: '1/s', burst: 2 }))
  const all = [...lines, { rule: 'net', key: ['2001:DB8::1', 'get'], rate: '1/s', burst: 3 }]
  const inFile = where === 'of the policy'
  const policy = parsePolicy(RULES + (inFile ? `overrides:\n${all.map((one) => `  - ${JSON.stringify(one)}\n`).join('')}` : ''))
  for (const override of policy.overrides ?? []) watched(override, seen)
  const engine = createEngine({ policy, store: memoryStore() })
  if (!inFile) for (const fields of all) watched(engine.override(fields), seen)
  const few = (work: () => unknown): unknown => {
    reads = 0
    const answer = work()
    expect(reads).toBeLessThan(50)
    return answer
  }
  const found = (target: { key: string; limit?: string }): unknown =>
    few(() => engine.overridesOfKey(target).map(({ rule, key, limit, origin }) => [rule, key, limit.capacity, origin]))
  const origin = inFile ? 'policy' : 'set'
  expect(found({ key: 'k77' })).toEqual([['user', ['k77'], 2, origin]])
  // However the key is spelt, and by any of its values.
  const net = [['net', ['2001:db8::/64', 'GET'], 3, origin]]
  expect(found({ key: '2001:db8:0::99' })).toEqual(net)
  expect(found({ key: 'HEAD', limit: 'net' })).toEqual(net)
  expect(found({ key: 'HEAD', limit: 'user' })).toEqual([])
  expect(found({ key: 'nobody' })).toEqual([])
  if (inFile) return
  expect(few(() => engine.withdrawKey({ key: 'k77' }).length)).toBe(1)
  expect(found({ key: 'k77' })).toEqual([])
  // One more is set, and replaced, without reading the others.
  for (const burst of [4, 5]) few(() => engine.override({ rule: 'user', key: 'k77', rate: '1/s', burst }))
  expect(found({ key: 'k77' })).toEqual([['user', ['k77'], 5, 'set']])
  expect(() => engine.override({ rule: 'user', key: 'one more', rate: '1/s', burst: 1 })).toThrow('there are 10000 already')
})
