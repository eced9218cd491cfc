import { describe, expect, it } from 'vitest'
import { run } from './command.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const POLICY = `
version: 1
trustedProxies: [loopback]
rules:
  - name: per-key
    match: { path: /api/**, method: [POST] }
    key: [header:x-api-key, ip:address]
    tiers:
      - { when: { jwt:plan: big }, rate: 100/s, burst: 200 }
      - { rate: 10/s, burst: 20 }
    cost: { from: query:n, default: 2 }
  - { name: all, key: [], rate: 1/s, burst: 5 }
  - { name: quiet, key: [], rate: 1/s, burst: 5, mode: 'off' }
`

describe('explain', () => {
  it('says which rules match, by which key, at which limit, and why others do not', async () => {
    const file = policyFile(POLICY)
    const argv = ['--method', 'POST', '--path', '/API/x?n=3', '--header', 'X-Api-Key: abc', '--ip', '203.0.113.9', '--claim', 'plan=big']
    const ran = await run(['explain', file, ...argv])
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout.split('\n')).toEqual([
      'POST /api/x from 203.0.113.9: 2 of 3 rules match',
      '  per-key: matches, enforce, tier jwt:plan=big',
      '    key: header:x-api-key = "abc", ip:address = "203.0.113.9"',
      '    limit: token-bucket: 100 a second, burst 200, window 2 s, cost 3',
      '  all: matches, enforce',
      '    key: one bucket for everybody',
      '    limit: token-bucket: 1 a second, burst 5, window 5 s, cost 1',
      '  quiet: does not match: it is off',
      '',
    ])
  })

  it('says what is absent, and takes the client from a trusted proxy only', async () => {
    const file = policyFile(POLICY)
    const from = async (ip: string): Promise<string> =>
      (await run(['explain', file, '--method', 'POST', '--path', '/api/x', '--header', 'x-forwarded-for:203.0.113.9', '--ip', ip])).stdout
    expect(await from('127.0.0.1')).toContain('    key: header:x-api-key is absent, ip:address = "203.0.113.9"\n')
    expect(await from('198.51.100.1')).toContain('    key: header:x-api-key is absent, ip:address = "198.51.100.1"\n')
    const read = await run(['explain', file, '--path', '/api/x'])
    expect(read.stdout).toContain(
      'GET /api/x from an unknown address: 1 of 3 rules match\n  per-key: does not match: method GET is not POST\n',
    )
  })

  it('reports the same as JSON', async () => {
    const args = ['--method', 'POST', '--path', '/api/x', '--query', 'n=4', '--query', 'm=a b', '--header', 'host:A.example:80', '--json']
    const argv = JSON.parse((await run(['explain', policyFile(POLICY), ...args])).stdout) as { rules: unknown[] }
    expect(argv).toMatchObject({ method: 'POST', path: '/api/x', host: 'a.example' })
    expect(argv.rules).toEqual([
      {
        name: 'per-key',
        mode: 'enforce',
        matches: true,
        key: [
          { source: 'header:x-api-key', value: null },
          { source: 'ip:address', value: null },
        ],
        tier: '',
        limit: { algorithm: 'token-bucket', capacity: 20, rate: '10/s', windowMs: 2_000 },
        cost: 4,
      },
      expect.objectContaining({ name: 'all', matches: true }),
      { name: 'quiet', mode: 'off', matches: false, why: 'it is off' },
    ])
  })

  it('charges what the caller says it costs', async () => {
    const ran = await run(['explain', policyFile(POLICY), '--path', '/', '--cost', '0.5'])
    expect(ran.stdout).toContain('window 5 s, cost 0.5\n')
  })

  it.each([
    [[], '--path is missing: expected a path that begins with /'],
    [['--path', 'api'], '--path is "api": expected a path that begins with /'],
    [['--path', '/', '--ip', '300.1.1.1'], '--ip is "300.1.1.1": expected an address'],
    [['--path', '/', '--header', 'x-api-key'], '--header is "x-api-key": expected NAME:VALUE'],
    [['--path', '/', '--query', '=a'], '--query is "=a": expected NAME=VALUE'],
    ...['-5', '0', 'NaN', '1e309', '0x10', '0.0000001'].map((cost): [string[], string] => [
      ['--path', '/', '--cost', cost],
      `--cost is "${cost}": expected a number above 0 with at most six decimals`,
    ]),
  ])('refuses %j in one line', async (args, line) => {
    const ran = await run(['explain', policyFile(POLICY), ...args])
    expect(ran).toEqual({ code: 3, stdout: '', stderr: expect.stringContaining(`sluice: explain: ${line}`) })
  })

  it('fails for a policy that is not one', async () => {
    const ran = await run(['explain', policyFile('version: 1\nrules: 7\n'), '--path', '/'])
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(ran.stderr).toContain('a list of rules')
  })
})
