import { describe, expect, it } from 'vitest'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const TEMPLATE = 'apps/server/policies/rate-limiting-at-scale.yaml'
const NATIVE = `
version: 1
rules:
  - name: per-key
    match: { path: /api/**, method: [GET, POST], host: "*.example.com" }
    key: [header:X-API-Key, ip:address]
    tiers:
      - { when: { header:x-plan: big }, rate: 100/s, burst: 2000 }
      - { rate: 10/s, burst: 20 }
    cost: { from: header:x-weight }
    onStoreFailure: local
  - { name: open, key: [], rate: 1/s, burst: 5, cost: 2, onStoreFailure: allow }
  - { name: closed, key: [], rate: 1/s, burst: 5 }
  - { name: watching, key: [], rate: 1/s, burst: 5, mode: shadow }
`

describe('check', () => {
  it('says what a policy means', async () => {
    const ran = await run(['check', TEMPLATE])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('endpoint:/api/search: enforce, cost 5, on store failure deny')
    expect(ran.stdout).toContain('    match: path /api/search\n    key: jwt:sub or ip:address\n')
    expect(ran.stdout.match(/^warning: .*/gm)).toEqual([expect.stringContaining('burst 20'), expect.stringContaining('burst 200')])
  })

  it('prints every rule, and only bounds that are known', async () => {
    const file = policyFile(NATIVE)
    const ran = await run(['check', file])
    expect(ran.stdout.split('\n').slice(1)).toEqual([
      '  per-key: enforce, cost header:x-weight, on store failure local',
      '    match: method GET or POST, path /api/**, host *.example.com',
      '    key: header:x-api-key, ip:address',
      '    tier header:x-plan=big: token-bucket of 2000, window 20 s',
      '    tier any: token-bucket of 20, window 2 s',
      '    bound: over-grant 0 while the store decides, n processes times the limit while it does not',
      '  open: enforce, cost 2, on store failure allow',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket of 5, window 5 s',
      '    bound: over-grant 0 while the store decides, unbounded while it does not',
      '  closed: enforce, cost 1, on store failure deny',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket of 5, window 5 s',
      '    bound: over-grant 0 while the store decides, 0 while it does not',
      '  watching: shadow, cost 1, on store failure deny',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket of 5, window 5 s',
      '    bound: none: shadow stops nobody',
      '',
    ])
  })

  it('tells the same as JSON', async () => {
    const told = JSON.parse((await run(['check', '--json', policyFile(NATIVE)])).stdout) as { rules: unknown[]; warnings: unknown[] }
    expect(told).toMatchObject({ dialect: 'native', failure: { deadlineMs: 50, policy: 'deny' }, warnings: [] })
    expect(told.rules[0]).toEqual({
      name: 'per-key',
      mode: 'enforce',
      match: { methods: ['GET', 'POST'], path: '/api/**', hosts: ['*.example.com'] },
      key: ['header:x-api-key', 'ip:address'],
      tiers: [
        { label: 'header:x-plan=big', algorithm: 'token-bucket', capacity: 2_000, windowMs: 20_000 },
        { label: 'any', algorithm: 'token-bucket', capacity: 20, windowMs: 2_000 },
      ],
      cost: 'header:x-weight',
      onStoreFailure: 'local',
      bound: 'over-grant 0 while the store decides, n processes times the limit while it does not',
    })
  })

  it('tells the window that the policy states, in both forms', async () => {
    const file = policyFile('rate_limits:\n  global:\n    capacity: 100\n    refill_rate: 10\n    window: 5s\n')
    expect((await run(['check', file])).stdout).toContain('tier any: token-bucket of 100, window 5 s')
    expect((await run(['check', '--json', file])).stdout).toContain('"windowMs": 5000')
  })

  it('names file, line, column, value and what is allowed', async () => {
    const path = policyFile('version: 1\nrules:\n  - name: a\n    key: []\n    rate: 10/fortnight\n    burst: 10\n')
    const ran = await run(['check', path])
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toContain(`${path}:5:11`)
    expect(ran.stderr).toContain('10/fortnight')
    expect(ran.stderr).toContain('10/s')
  })
})

describe("rules of Fairvisor's Token Bucket", () => {
  it('are printed with the reading that was taken, and what of it no token proves', async () => {
    const algorithm_config = { rps: 10, burst: 20 }
    const enterprise = { name: 'enterprise', limit_keys: ['header:x-api-key'], algorithm_config, match: { 'jwt:plan': 'enterprise' } }
    const free = { name: 'free', limit_keys: ['header:x-api-key'], algorithm_config }
    const file = policyFile(JSON.stringify({ rules: [enterprise, free] }))
    const ran = await run(['check', file])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('  enterprise: enforce, cost 1, on store failure allow\n    match: jwt:plan is enterprise\n')
    expect(ran.stdout).toContain('  free: enforce, cost 1, on store failure allow\n    match: match of enterprise is false\n')
    expect(ran.stdout).toContain('read as their else; with "match": {} it would apply to every request')
    expect(ran.stdout).toContain(
      'warning: rule enterprise reads jwt:plan, but this service verifies no tokens yet: the value counts as absent, so it never applies',
    )
  })
})

describe('a policy that reads tokens', () => {
  const rule = (key: string, tiers: string): string =>
    policyFile(
      `version: 1\nrules:\n  - name: a\n    key: ${key}\n    rate: 1/s\n    burst: 1\n    tiers: [${tiers}{ rate: 1/s, burst: 1 }]\n`,
    )
  const plan = '{ when: { jwt:plan: x }, rate: 9/s, burst: 9 }, '
  const absent = 'but this service verifies no tokens yet: the value counts as absent, so '

  it.each([
    ['[jwt:sub]', '', `rule a reads jwt:sub, ${absent}requests that differ in nothing else share one bucket`],
    ['[jwt:sub, ip:address]', '', `rule a reads jwt:sub, ${absent}requests that differ in nothing else of the key share one bucket`],
    ['[]', plan, `rule a reads jwt:plan, ${absent}its tiers with such a condition are never used`],
    [
      '[jwt:sub]',
      plan,
      `rule a reads jwt:plan, jwt:sub, ${absent}its tiers with such a condition are never used, and requests that differ in nothing else share one bucket`,
    ],
  ])('with key %s and tier %s is warned of in one line', async (key, tier, line) => {
    const ran = await run(['check', rule(key, tier)])
    expect(ran.stdout.match(/^warning: rule .*/gm)).toEqual([`warning: ${line}`])
  })

  it('is warned of by serve as well, but where another source stands in', async () => {
    const [native, template] = await Promise.all([serve([rule('[jwt:sub]', '')]), serve([TEMPLATE])])
    await Promise.all([native.stop(), template.stop()])
    expect(native.output()).toContain('sluice: warning: rule a reads jwt:sub, but')
    expect(template.output()).not.toContain('jwt')
  })
})
