import { describe, expect, it } from 'vitest'
import { canonicalValue, parseSource, type Source } from '../../src/identity/source.ts'
import { createEngine, type Engine, parsePolicy } from '../../src/policy.ts'
import { memoryStore } from '../../src/stores/memory/memory-store.ts'

const engineOf = (policy: string): Engine => createEngine({ policy: parsePolicy(policy), store: memoryStore() })
const passed = async (policy: string, hosts: readonly string[]): Promise<number> => {
  const engine = engineOf(policy)
  let count = 0
  for (const host of hosts)
    if ((await engine.decide({ method: 'GET', path: '/', headers: { host }, ip: '203.0.113.1' })).allowed) count += 1
  return count
}
const many = (make: (index: number) => string): string[] => Array.from({ length: 20 }, (_, index) => make(index))

const KEYED = 'version: 1\nrules: [{ name: a, key: ["host:"], rate: 1/d, burst: 3 }]\n'
const MATCHED = 'version: 1\nrules: [{ name: a, match: { host: a.example }, key: [], rate: 1/d, burst: 3 }]\n'
const CONDITION =
  'version: 1\nrules: [{ name: a, key: [], tiers: [{ when: { "host:": a.example }, rate: 1/d, burst: 3 }, { rate: 1/d, burst: 100 }] }]\n'

const SPELLINGS: readonly (readonly [what: string, make: (index: number) => string])[] = [
  ['final dots', (index) => `a.example${'.'.repeat(index)}`],
  [
    'upper case',
    (index) =>
      'a.example'
        .split('')
        .map((letter, at) => ((index >> at) & 1 ? letter.toUpperCase() : letter))
        .join(''),
  ],
  ['ports', (index) => `a.example:${'0'.repeat(index)}80`],
  ['dots before a port', (index) => `a.example${'.'.repeat(index)}:80`],
]
/** None of these texts is a valid Host header, but some upstreams read a host out of it. */
const NO_HOSTS: readonly (readonly [what: string, make: (index: number) => string])[] = [
  ['user information', (index) => `u${index}@a.example`],
  ['a password', (index) => `u:${index}@a.example.:80`],
  ['several @', (index) => `${'x@'.repeat(index + 1)}a.example`],
  ['several ports', (index) => `a.example${':80'.repeat(index + 2)}`],
  ['dots after a port', (index) => `a.example:80${'.'.repeat(index + 1)}`],
  ['a path', (index) => `a.example/${index}`],
  ['a query', (index) => `a.example?@${index}`],
  ['escapes', (index) => `u${index}@%61.example`],
  ['letters that stand for others', (index) => `${index}@\u00aa.example`],
]

const ADDRESS =
  'version: 1\nrules: [{ name: a, key: [], tiers: [{ when: { "host:": "[2001:DB8::1]" }, rate: 1/d, burst: 3 }, { rate: 1/d, burst: 100 }] }]\n'
const IPV6 = '[2001:db8::1]'
const IPV6_SPELLINGS: readonly (readonly [what: string, make: (index: number) => string])[] = [
  ['zeros', (index) => `[2001:${'0'.repeat(index % 2)}db8:${'0:'.repeat(index % 3)}:${'0'.repeat(index % 4)}1]`],
  ['ports', (index) => `${IPV6}:${index}`],
  ['user information', (index) => `u${index}@${IPV6}:80`],
  ['a path', (index) => `${IPV6}/${index}`],
  ['several ports', (index) => `${IPV6}${':80'.repeat(index + 2)}`],
]

describe('S8: a Host has one spelling', () => {
  it.each(IPV6_SPELLINGS)('no way around a limit for an IPv6 address by its %s', async (_, make) => {
    expect(await passed(ADDRESS, many(make))).toBe(3)
  })

  it.each(['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '127.0.0.1.', '127.1.:80', 'u@127.1'])(
    'no way around a limit for an IPv4 address by %s',
    async (host) => {
      expect(await passed(ADDRESS.replace('[2001:DB8::1]', '127.0.0.1'), Array(20).fill(host))).toBe(3)
    },
  )

  it('a text that looks like an address, but has no valid one, is no host', async () => {
    const hosts = ['a.1', '1.2.3.4.5', '256.1.1.1', '[]', '[1:2]', '0x.g.1']
    expect(
      await passed(
        KEYED,
        many((index) => hosts[index % hosts.length] as string),
      ),
    ).toBe(3)
  })

  it.each([...SPELLINGS, ...NO_HOSTS])('one bucket whatever its %s', async (_, make) => {
    expect(await passed(KEYED, many(make))).toBe(3)
  })

  it.each([...SPELLINGS, ...NO_HOSTS])('no way around a rule for the host by its %s', async (_, make) => {
    expect(await passed(MATCHED, many(make))).toBe(3)
    expect(await passed(CONDITION, many(make))).toBe(3)
  })

  it('all that is no Host shares one bucket', async () => {
    expect(
      await passed(
        KEYED,
        NO_HOSTS.flatMap(([, make]) => many(make)),
      ),
    ).toBe(3)
  })

  it('other hosts, addresses in brackets too, have buckets of their own', async () => {
    expect(
      await passed(
        KEYED,
        many((index) => `a${index}.example`),
      ),
    ).toBe(20)
    expect(
      await passed(
        KEYED,
        many((index) => `[2001:db8::${index}]:80`),
      ),
    ).toBe(20)
  })

  it('a value that a person wrote down is in the same spelling', () => {
    const source = parseSource('host:') as Source
    expect(canonicalValue(source, 'A.Example...:80')).toBe('a.example')
    expect(canonicalValue(source, 'u@a.example')).toBeUndefined()
    expect(canonicalValue(source, '(ambiguous)')).toBe('(ambiguous)')
  })
})
