import { describe, expect, it } from 'vitest'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const checked = async (rules: string, sections = 'trustedProxies: []'): Promise<string[]> => {
  const { stdout, code } = await run(['check', policyFile(`version: 1\n${sections}\nrules:\n${rules}`)])
  expect(code).toBe(0)
  return [...stdout.matchAll(/^warning: (.*)/gm)].map(([, line = '']) => line)
}
const BY_IP = '  - { name: ip, key: [ip:address], rate: 1/s, burst: 9 }\n'

describe('U6: check warns of addresses without trustedProxies', () => {
  const missing = /the client's address, and trustedProxies is missing: behind a proxy all clients have the proxy's address/

  it.each([
    ['a key', BY_IP, /^rule ip reads/],
    [
      'a tier',
      '  - { name: t, key: [], tiers: [{ when: { ip:address: 10.0.0.1 }, rate: 1/s, burst: 9 }, { rate: 2/s, burst: 9 }] }\n',
      /^rule t reads/,
    ],
    ['several rules', BY_IP + BY_IP.replace('name: ip', 'name: more'), /^2 rules, such as ip, read/],
  ])('in %s', async (_what, rules, which) => {
    expect(await checked(rules, '')).toEqual([expect.stringMatching(missing)])
    expect(await checked(rules, '')).toEqual([expect.stringMatching(which)])
    expect(await checked(rules)).toEqual([])
    expect(await checked(rules, 'trustedProxies: [10.0.0.0/8]')).toEqual([])
  })

  it('not of a policy that reads no address', async () => {
    expect(await checked('  - { name: all, key: [], rate: 1/s, burst: 9 }\n', '')).toEqual([])
    expect(await checked(BY_IP.replace('burst: 9', "burst: 9, mode: 'off'"), '')).toEqual([])
  })
})

describe('U6: the service says once that a proxy is not named', () => {
  it('in one line, at the first forwarded request', async () => {
    const served = await serve([policyFile(`version: 1\nrules:\n${BY_IP}`)])
    const decide = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${served.url}/v1/decision`, { method: 'POST', headers: { 'x-original-uri': '/', ...headers } })).status
    expect(await decide({})).toBe(200)
    expect(served.output()).not.toContain('trustedProxies')
    for (let index = 0; index < 3; index += 1) expect(await decide({ 'x-forwarded-for': '198.51.100.7' })).toBe(200)
    await served.stop()
    expect(served.output().match(/.*trustedProxies.*/g)).toEqual([
      expect.stringMatching(/ warn {2}engine: a request from this machine has the header x-forwarded-for, but trustedProxies/),
    ])
  })
})

describe('check warns of keys that clients rotate', () => {
  const rotated = expect.stringMatching(
    /^rule key counts by .* alone, and a client may send another value with each request to get a new bucket/,
  )
  const rule = (key: string, more = ''): string => `  - { name: key, key: [${key}], rate: 1/s, burst: 9${more} }\n`

  it.each(['header:x-api-key', 'query:token', 'cookie:sid', 'header:a, "path:"', 'header:a, query:b'])('%s', async (key) => {
    expect(await checked(rule(key))).toEqual([rotated])
  })

  it.each(['', 'ip:address', 'header:a, ip:address', '"path:template"', 'ua:bot'])('not [%s]', async (key) => {
    expect(await checked(rule(key))).toEqual([])
  })

  it('not of a rule whose requests another rule limits', async () => {
    expect(await checked(rule('header:a') + BY_IP)).toEqual([])
    const here = ', match: { path: /a, method: GET }'
    expect(await checked(rule('header:a', here) + BY_IP.replace(' }', ', match: { path: /a } }'))).toEqual([])
    expect(await checked(rule('header:a', here) + BY_IP.replace(' }', ', match: { path: /b } }'))).toEqual([rotated])
    expect(await checked(rule('header:a') + BY_IP.replace(' }', ', mode: shadow }'))).toEqual([rotated])
    expect(await checked(rule('header:a', ', mode: shadow'))).toEqual([])
  })
})

describe('U5: the premium tenant of the template', () => {
  const DEMO = 'packages/server/policies/rate-limiting-at-scale.yaml'

  it('can be tried in the demo, by the header of a local caller', async () => {
    const demo = await serve(['--demo'])
    const limitOf = async (headers: Record<string, string>): Promise<string | null> =>
      (await fetch(`${demo.url}/api/data`, { headers })).headers.get('ratelimit-policy')
    expect(await limitOf({})).toContain('"tenant:default";q=100')
    expect(await limitOf({ 'x-tenant-tier': 'premium' })).toContain('"tenant:premium";q=1000')
    await demo.stop()
  })

  it('is explained', async () => {
    const ran = await run(['explain', DEMO, '--path', '/api/data', '--header', 'x-tenant-tier: premium', '--ip', '127.0.0.1'])
    expect(ran.stdout).toContain('tenant:premium: matches')
  })
})

describe('U5: explain says in words that a cost can never pass', () => {
  it('in the words of a person', async () => {
    const file = policyFile('version: 1\nrules: [{ name: a, key: [], rate: 1/s, burst: 20, cost: { from: header:w, max: 100 } }]')
    const ran = await run(['explain', file, '--path', '/', '--header', 'w:25'])
    expect(ran.stdout).toContain('    never admitted: the cost 25 is above the capacity 20, so waiting does not help\n')
  })
})
