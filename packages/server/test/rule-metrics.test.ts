import { memoryStore, type Store } from 'sluice'
import { describe, expect, it } from 'vitest'
import { local } from './in-process.ts'

const POLICY = `
version: 1
failure: { processes: 2, outage: 10s, policy: local }
rules:
  - { name: one, key: [], rate: 1/s, burst: 5 }
  - { name: open, key: ["header:x-user", "method:"], rate: 1/s, burst: 5, onStoreFailure: allow }
  - { name: some, key: ["ip:address"], rate: 1/s, burst: 5, sample: 5 }
  - { name: seen, key: ["jwt:sub"], rate: 1/s, burst: 5, mode: shadow }
  - { name: gone, key: [], rate: 1/s, burst: 5, mode: 'off' }
`

/** The values of a metric by rule. */
async function byRule(url: string, name: string): Promise<Record<string, string>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Object.fromEntries(
    [...text.matchAll(new RegExp(`^${name}\\{rule="([^"]*)"[^}]*\\} (.*)$`, 'gm'))].map(([, rule, value]) => [
      rule as string,
      value as string,
    ]),
  )
}

describe('metrics of rules', () => {
  it('report the bounds of the policy, for a store in this process', async () => {
    const { url } = await local(POLICY)
    expect(await byRule(url, 'sluice_overgrant_bound')).toEqual({ one: '0', open: '0', some: '+Inf', seen: '+Inf' })
    expect(await byRule(url, 'sluice_overgrant_bound_store_down')).toEqual({ one: '0', open: '+Inf', some: '+Inf', seen: '+Inf' })
  })

  it('report them for a store that others share: each process has a local fallback of its own', async () => {
    const here = memoryStore()
    const shared: Store = { ...here, capabilities: { ...here.capabilities, clock: 'server' } }
    const { url, policy } = await local(POLICY, { store: shared })
    const [rule] = policy.current.rules
    const { storeDown } = policy.current.boundOf(rule as NonNullable<typeof rule>, 'shared')
    expect(storeDown).toBe(2 * (5 + 10) - (10 - 5))
    expect(await byRule(url, 'sluice_overgrant_bound')).toEqual({ one: '0', open: '0', some: '+Inf', seen: '+Inf' })
    expect(await byRule(url, 'sluice_overgrant_bound_store_down')).toEqual({ one: '25', open: '+Inf', some: '+Inf', seen: '+Inf' })
  })

  it('report the kind of an identifier, and never the identifier', async () => {
    const { url, post } = await local(POLICY)
    await post('/v1/check', { path: '/', headers: { 'x-user': 'ada-lovelace' }, ip: '203.0.113.77' })
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(
      [...text.matchAll(/^sluice_rule_info\{rule="(.*?)",identifier_kind="(.*?)"\} 1$/gm)].map(([, rule, kind]) => [rule, kind]),
    ).toEqual([
      ['one', 'none'],
      ['open', 'header,method'],
      ['some', 'ip'],
      ['seen', 'jwt'],
    ])
    expect(text).not.toMatch(/ada-lovelace|203\.0\.113/)
  })

  it('count decisions by rule, route and result, and by nothing else', async () => {
    const { url, post } = await local('version: 1\nrules:\n  - { name: seen, key: ["header:x-user"], rate: 1/h, burst: 1, mode: shadow }\n')
    for (let sent = 0; sent < 3; sent += 1) await post('/v1/check', { path: '/', headers: { 'x-user': 'a' } })
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text.match(/^sluice_requests_total\{.*$/gm)).toEqual([
      'sluice_requests_total{rule="seen",route="",result="allowed"} 1',
      'sluice_requests_total{rule="seen",route="",result="shadow_denied"} 2',
    ])
  })
})
