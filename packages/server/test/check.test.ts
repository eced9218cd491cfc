import { describe, expect, it } from 'vitest'
import { run, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const TEMPLATE = 'packages/server/policies/rate-limiting-at-scale.yaml'
const NATIVE = `
version: 1
trustedProxies: []
rules:
  - name: per-key
    match: { path: /api/**, method: [GET, POST], host: "*.example.com" }
    key: [header:X-API-Key, ip:address]
    tiers:
      - { when: { header:x-plan: big }, rate: 100/s, burst: 2000 }
      - { rate: 10/s, burst: 20 }
    cost: { from: header:x-weight, max: 2000 }
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
      '  store memory:, identifiers plain, tokens not verified',
      '  per-key: enforce, cost header:x-weight, on store failure local',
      '    match: method GET or POST, path /api/**, host *.example.com',
      '    key: header:x-api-key, ip:address',
      '    tier header:x-plan=big: token-bucket: 100 a second, burst 2000, window 20 s',
      '    tier any: token-bucket: 10 a second, burst 20, window 2 s',
      '    bound: over-grant 0 while the store decides, 0 while it does not: a store in this process has no local fallback',
      '  open: enforce, cost 2, on store failure allow',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket: 1 a second, burst 5, window 5 s',
      '    bound: over-grant 0 while the store decides, unbounded while it does not',
      '  closed: enforce, cost 1, on store failure deny',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket: 1 a second, burst 5, window 5 s',
      '    bound: over-grant 0 while the store decides, 0 while it does not',
      '  watching: shadow, cost 1, on store failure deny',
      '    match: every request',
      '    key: one bucket for everybody',
      '    tier any: token-bucket: 1 a second, burst 5, window 5 s',
      '    bound: none: shadow stops nobody',
      '',
    ])
  })

  it('says how many reservations may be open, if the policy does', async () => {
    const file = policyFile('version: 1\nreservations: { maxHolds: 20 }\nrules: []\n')
    expect((await run(['check', file])).stdout).toContain('\n  reservations: at most 20 of a key are open at once\n')
    expect(JSON.parse((await run(['check', '--json', file])).stdout)).toMatchObject({ maxHolds: 20 })
  })

  it('reports the same as JSON', async () => {
    const report = JSON.parse((await run(['check', '--json', policyFile(NATIVE)])).stdout) as { rules: unknown[]; warnings: unknown[] }
    expect(report).toMatchObject({ dialect: 'native', failure: { deadlineMs: 50, policy: 'deny' }, warnings: [] })
    expect(report.rules[0]).toEqual({
      name: 'per-key',
      mode: 'enforce',
      match: { methods: ['GET', 'POST'], path: '/api/**', hosts: ['*.example.com'] },
      key: ['header:x-api-key', 'ip:address'],
      tiers: [
        { label: 'header:x-plan=big', algorithm: 'token-bucket', capacity: 2_000, rate: '100/s', windowMs: 20_000 },
        { label: 'any', algorithm: 'token-bucket', capacity: 20, rate: '10/s', windowMs: 2_000 },
      ],
      cost: 'header:x-weight',
      onStoreFailure: 'local',
      bound: {
        running: 0,
        storeDown: 0,
        text: '0 while the store decides, 0 while it does not: a store in this process has no local fallback',
      },
    })
  })

  it('reports the window that the policy states, in both forms', async () => {
    const file = policyFile('rate_limits:\n  global:\n    capacity: 100\n    refill_rate: 10\n    window: 5s\n')
    expect((await run(['check', file])).stdout).toContain('tier any: token-bucket: 2 a second, burst 100, window 5 s')
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
      'warning: rule enterprise reads jwt:plan, but no jwt section says how tokens are verified: the value counts as absent, so it never applies',
    )
  })
})

describe('check of what surrounds rules', () => {
  const SURROUNDED = `
version: 1
identifiers: { mode: hmac, secretFile: ./not-here }
jwt: { verified: upstream }
failure: { policy: local, processes: 4, outage: 10s }
exempt: [{ path: /healthz }]
rules:
  - { name: a, key: ["jwt:sub"], rate: 1/s, burst: 5, sample: 2 }
  - { name: b, key: ["header:x"], rate: 1/s, burst: 5, maxOvergrant: 100, exempt: [{ ip: 10.0.0.0/8 }] }
`
  const policy = (): string => policyFile(SURROUNDED)

  it('computes bounds for the store that is named', async () => {
    const [alone, shared] = await Promise.all([
      run(['check', policy()]),
      run(['check', policy(), '--store', 'redis://u:secret@127.0.0.1:1']),
    ])
    expect([alone.code, shared.code]).toEqual([0, 0])
    expect(alone.stdout).toContain('  store memory:, identifiers hmac, tokens verified upstream\n  exempt: path /healthz\n')
    expect(shared.stdout).toContain('  store redis://***@127.0.0.1:1, identifiers hmac')
    expect(alone.stdout).toContain(
      'bound: over-grant 0 while the store decides, 0 while it does not: a store in this process has no local fallback; at most 100 is allowed\n',
    )
    // Four processes admit up to 5 + 10 tokens each in 10 s. Meanwhile 10 tokens are refilled in the store, whose bucket keeps only 5 of
    // them.
    expect(shared.stdout).toContain(
      'bound: over-grant 0 while the store decides, 55 while it does not, for at most 4 processes and 10000 ms; at most 100 is allowed\n',
    )
    expect(shared.stdout).toContain('  a: enforce, cost 1, one request in 2 counted 2 times, on store failure local\n')
    expect(shared.stdout).toContain('    exempt: its address\n')
    const report = JSON.parse((await run(['check', policy(), '--json', '--store', 'redis://127.0.0.1:1'])).stdout) as {
      rules: { bound: object }[]
    }
    expect(report.rules.map(({ bound }) => bound)).toMatchObject([
      { running: 'unbounded', storeDown: 'unbounded' },
      { running: 0, storeDown: 55, budget: 100 },
    ])
  })

  it('warns of a secret that is not where it is checked', async () => {
    const ran = await run(['check', policy()])
    expect(ran.stdout).toMatch(/^warning: identifiers\.secretFile \.\/not-here cannot be read: ENOENT.*; serve would not start here$/m)
    expect(ran.stdout).not.toContain('no jwt section')
  })

  it('refuses a store that is not one', async () => {
    expect(await run(['check', policy()], { SLUICE_STORE: 'mysql://u:secret@h' })).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^sluice: check: store mysql:\/\/\*\*\*@h is not the URL of a store: expected memory:, .* \(from SLUICE_STORE\)\n$/,
      ),
    })
    const misspelt = await run(['check', policy(), '--store', 'redis://h/?db=1'])
    expect([misspelt.code, misspelt.stderr]).toEqual([3, expect.stringContaining('has the unknown parameter db: expected tls, ca')])
  })

  it('reports every mistake to a program, in its parts', async () => {
    const path = policyFile('version: 1\nrules:\n  - { name: a, key: [], rate: 0/s, burst: 0 }\n')
    const ran = await run(['check', path, '--json'])
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(`sluice: ${path}:3:`)])
    const { valid, issues } = JSON.parse(ran.stdout) as { valid: boolean; issues: { file: string; line: number; path: string }[] }
    expect([valid, issues.length]).toEqual([false, ran.stderr.trimEnd().split('\n').length])
    for (const issue of issues)
      expect(issue).toMatchObject({ file: path, line: 3, column: expect.any(Number), path: expect.stringMatching(/^rules\[0\]/) })
  })
})

describe('a policy that reads tokens', () => {
  const rule = (key: string, tiers: string): string =>
    policyFile(
      `version: 1\ntrustedProxies: []\nrules:\n  - name: a\n    key: ${key}\n    rate: 1/s\n    burst: 1\n    tiers: [${tiers}{ rate: 1/s, burst: 1 }]\n`,
    )
  const plan = '{ when: { jwt:plan: x }, rate: 9/s, burst: 9 }, '
  const absent = 'but no jwt section says how tokens are verified: the value counts as absent, so '

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

  it('is warned of by serve as well, unless another source replaces it', async () => {
    const [native, template] = await Promise.all([serve([rule('[jwt:sub]', '')]), serve([TEMPLATE])])
    await Promise.all([native.stop(), template.stop()])
    expect(native.output()).toContain(' warn  rule a reads jwt:sub, but')
    expect(template.output()).not.toContain('jwt')
  })
})
