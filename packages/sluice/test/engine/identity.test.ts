import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { bench, facts, TWO } from './bench.ts'

describe('the caller', () => {
  const PER_IP = 'rules: [{ name: a, key: ["ip:address"], rate: 1/s, burst: 1 }]'
  const forwarded = (address: string, ip: string): RequestFacts =>
    facts({ ip, headers: { 'x-forwarded-for': address, forwarded: 'for=198.51.100.77' } })

  it('believes forwarding headers of trusted proxies only', async () => {
    const { engine } = bench(`trustedProxies: [10.0.0.0/8]\n${PER_IP}`)
    expect((await engine.decide(forwarded('203.0.113.1', '10.0.0.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('9.9.9.9, 203.0.113.1', '10.0.0.1'))).allowed).toBe(false)
    expect((await engine.decide(forwarded('203.0.113.2', '10.0.0.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('203.0.113.3', '198.51.100.1'))).allowed).toBe(true)
    expect((await engine.decide(forwarded('203.0.113.4', '198.51.100.1'))).allowed).toBe(false)
  })

  it('counts all addresses of one IPv6 network, and all spellings of one address, together', async () => {
    const { engine } = bench(PER_IP)
    const passes = async (ip: string): Promise<boolean> => (await engine.decide(facts({ ip }))).allowed
    expect([await passes('2001:db8:1:2::1'), await passes('2001:DB8:1:2:ffff::9'), await passes('2001:db8:1:3::1')]).toEqual([
      true,
      false,
      true,
    ])
    expect([await passes('192.0.2.7'), await passes('::ffff:192.0.2.7'), await passes('::ffff:c000:207')]).toEqual([true, false, false])
  })

  it('puts options above the policy, with another header where configured', async () => {
    const { engine } = bench(`trustedProxies: [10.0.0.0/8]\n${PER_IP}`, { trustedProxies: trustProxies(['loopback'], 'forwarded') })
    expect(await engine.explain(forwarded('203.0.113.1', '127.0.0.1'))).toMatchObject({ address: '198.51.100.77' })
    expect(await engine.explain(forwarded('203.0.113.1', '10.0.0.1'))).toMatchObject({ address: '10.0.0.1' })
    expect(() => bench(PER_IP, { trustedProxies: ['::ffff:10.0.0.0/8'] })).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
  })

  it('requests claims where the facts bring none, and does without where they cannot be had', async () => {
    const claims = (given: RequestFacts): { sub: string } => {
      if (given.headers['authorization'] === undefined) throw new Error('no token')
      return { sub: 'user' }
    }
    const { engine } = bench('rules: [{ name: a, key: ["jwt:sub"], rate: 1/s, burst: 1 }]', { claims })
    const keys = async (more: Partial<RequestFacts>): Promise<unknown> => (await engine.explain(facts(more))).rules[0]?.key
    expect(await keys({ headers: { authorization: 'Bearer x' } })).toEqual([{ source: 'jwt:sub', value: 'user' }])
    expect(await keys({ claims: { sub: 'other' } })).toEqual([{ source: 'jwt:sub', value: 'other' }])
    expect(await keys({})).toEqual([{ source: 'jwt:sub', value: null }])
  })

  it('spreads retries by a hash that differs between clients and names nobody', async () => {
    const { engine } = bench(PER_IP)
    const refused = async (ip: string) => engine.decide(facts({ ip, cost: 1_000_000 }))
    const [one, same, other] = [await refused('192.0.2.1'), await refused('192.0.2.1'), await refused('192.0.2.2')]
    expect(one.allowed).toBe(false)
    expect(one.identity).toMatch(/^[\da-f]{8}$/)
    expect(same.identity).toBe(one.identity)
    expect(other.identity).not.toBe(one.identity)
  })
})

describe('peeking without charging', () => {
  it('peeks', async () => {
    const { engine, store } = bench(TWO)
    expect(await engine.peek(facts())).toMatchObject({ allowed: true, limits: [{ remaining: 3 }, { remaining: 10 }] })
    expect(store.size).toBe(0)
  })

  it('explains which rules match, by which keys, and why the others do not', async () => {
    const { engine, store } = bench(`
rules:
  - { name: all, key: [], rate: 10/s, burst: 20 }
  - { name: one, match: { path: /api/** }, key: ["header:x-api-key", "ip:address"], rate: 1/s, burst: 2, cost: 2, mode: shadow }
  - { name: post, match: { method: POST }, key: [], rate: 1/s, burst: 2 }
  - { name: there, match: { host: b.example }, key: [], rate: 1/s, burst: 2 }
  - { name: gone, key: [], rate: 1/s, burst: 2, mode: off }
  - { name: tiers, key: [], tiers: [{ when: { jwt:plan: a }, rate: 1/s, burst: 1 }] }
`)
    expect(await engine.explain(facts({ headers: { host: 'A.example:80' } }))).toEqual({
      method: 'GET',
      path: '/api/items',
      host: 'a.example',
      address: '192.0.2.1',
      rules: [
        {
          name: 'all',
          mode: 'enforce',
          matches: true,
          key: [],
          tier: '',
          limit: { algorithm: 'token-bucket', capacity: 20, rate: '10/s', windowMs: 2_000 },
          cost: 1,
        },
        {
          name: 'one',
          mode: 'shadow',
          matches: true,
          key: [
            { source: 'header:x-api-key', value: null },
            { source: 'ip:address', value: '192.0.2.1' },
          ],
          tier: '',
          limit: { algorithm: 'token-bucket', capacity: 2, rate: '1/s', windowMs: 2_000 },
          cost: 2,
        },
        { name: 'post', mode: 'enforce', matches: false, why: 'method GET is not POST' },
        { name: 'there', mode: 'enforce', matches: false, why: 'host a.example is not b.example' },
        { name: 'gone', mode: 'off', matches: false, why: 'it is off' },
        { name: 'tiers', mode: 'enforce', matches: false, why: 'none of its tiers applies' },
      ],
    })
    expect(store.size).toBe(0)
  })
})
