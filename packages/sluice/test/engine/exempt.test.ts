import { describe, expect, it } from 'vitest'
import { bench, facts } from './bench.ts'

const LIMIT =
  'rules: [{ name: all, key: [], rate: 1/s, burst: 1 }, { name: api, match: { path: /api/** }, key: [], rate: 1/s, burst: 5, exempt: [{ path: /api/free/* }, { ip: 192.0.2.7 }] }]'

describe('exempt requests', () => {
  const { engine } = bench(`
trustedProxies: [10.0.0.0/8]
exempt:
  - path: [/health, /static/**]
  - { path: /metrics, ip: [192.0.2.0/24, "2001:db8::/32"] }
  - header: { X-Internal: "1", x-team: core }
${LIMIT}`)

  it.each([
    [{ path: '/health' }, 'path /health or /static/**'],
    [{ path: '/STATIC//./a/b?x=1' }, 'path /health or /static/**'],
    [{ path: '/metrics' }, 'path /metrics and its address'],
    [{ path: '/metrics', ip: '2001:db8:ffff::1' }, 'path /metrics and its address'],
    [{ path: '/metrics', ip: '::ffff:192.0.2.200' }, 'path /metrics and its address'],
    [{ ip: '10.1.1.1', headers: { 'x-internal': '1', 'x-team': 'core' } }, 'header:x-internal and header:x-team'],
  ])('%j is not limited, and the decision says by what', async (more, exempt) => {
    for (let call = 0; call < 3; call += 1)
      expect(await engine.decide(facts(more))).toMatchObject({ outcome: 'allowed', limits: [], rules: [], exempt })
    expect(await engine.explain(facts(more))).toMatchObject({ exempt })
  })

  it.each([
    [{ path: '/healthz' }],
    [{ path: '//host/health' }],
    [{ path: '/static/%2e%2e/api' }],
    [{ path: '/static/..%2fapi' }],
    [{ path: '/static/x;/../../api' }],
    [{ path: '/metrics', ip: '198.51.100.1' }],
    [{ path: '/metrics', ip: '2001:db9::1' }],
    [{ path: '/x', ip: '192.0.2.9', headers: { 'x-internal': '1', 'x-team': 'core' } }],
    [{ path: '/x', ip: '10.1.1.1', headers: { 'x-internal': '1' } }],
    [{ path: '/x', ip: '10.1.1.1', headers: { 'x-internal': '2', 'x-team': 'core' } }],
  ])('%j is limited: all of an exemption must hold, and a header only counts from a trusted proxy', async (more) => {
    const decision = await engine.peek(facts(more))
    expect(decision.exempt).toBeUndefined()
    expect(decision.rules).toContainEqual({ name: 'all', mode: 'enforce' })
  })

  it('are left alone by one rule where it says so, and limited by the others', async () => {
    const alone = bench(LIMIT).engine
    const names = async (more: object): Promise<string[]> => (await alone.peek(facts(more))).rules.map(({ name }) => name)
    expect(await names({ path: '/api/x' })).toEqual(['all', 'api'])
    expect(await names({ path: '/api/free/x' })).toEqual(['all'])
    expect(await names({ path: '/api/x', ip: '192.0.2.7' })).toEqual(['all'])
    expect((await alone.explain(facts({ path: '/api/free/x' }))).rules[1]).toEqual({
      name: 'api',
      mode: 'enforce',
      matches: false,
      why: 'it is exempt by path /api/free/*',
    })
  })
})
