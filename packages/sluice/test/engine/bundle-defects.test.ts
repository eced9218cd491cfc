import { describe, expect, it } from 'vitest'
import { hash32 } from '../../src/decision/jitter.ts'
import type { RequestFacts } from '../../src/identity/request.ts'
import { headersOf } from '../../src/http/headers.ts'
import type { Engine } from '../../src/policy.ts'
import { requestOf, bare, bundle, bundleBench } from './bundle-bench.ts'

const SMALL = { rps: 1, burst: 1 }
const sent = async (engine: Engine, facts: RequestFacts): Promise<Map<string, string>> => {
  const decision = await engine.decide(facts)
  return new Map(headersOf(decision, decision.identity, engine.headers))
}

describe('defects of the system that the dialect comes from are absent', () => {
  it('1: a rule that says rps decides', async () => {
    const { engine } = bundleBench(bare({ rps: 5, burst: 10 }))
    expect((await engine.decide(requestOf())).limits).toMatchObject([{ limit: 10, remaining: 9 }])
  })

  it('4: a policy in shadow disables none that is enforced, and nothing of it is sent', async () => {
    const { engine } = bundleBench(bundle({ a: { mode: 'shadow', rules: [bare(SMALL)] }, b: { rules: [bare({ rps: 1, burst: 2 })] } }))
    expect([...(await sent(engine, requestOf())).keys()]).not.toContain('Retry-After')
    const second = await sent(engine, requestOf())
    expect(second.get('RateLimit')).toBe('"b/r";r=0;t=1')
    expect([second.has('Retry-After'), second.has('X-Fairvisor-Reason')]).toEqual([false, false])
    expect((await engine.decide(requestOf())).outcome).toBe('denied')
  })

  it('4: a policy that is in shadow alone sends nothing at all', async () => {
    const { engine } = bundleBench(bundle({ a: { mode: 'shadow', rules: [bare(SMALL)] } }))
    await sent(engine, requestOf())
    expect([...(await sent(engine, requestOf()))]).toEqual([])
  })

  it('6: rules of one name in two policies count apart', async () => {
    const { engine } = bundleBench(bundle({ a: { rules: [bare({ rps: 1, burst: 3 })] }, b: { rules: [bare({ rps: 1, burst: 3 })] } }))
    expect((await engine.decide(requestOf())).limits.map(({ remaining }) => remaining)).toEqual([2, 2])
  })

  it('7: a rule that comes before the one that rejects stays uncharged', async () => {
    const { engine } = bundleBench({ rules: [bare({ rps: 1, burst: 9 }, { name: 'a' }), bare(SMALL, { name: 'b' })] })
    for (let index = 0; index < 5; index += 1) await engine.decide(requestOf())
    const { limits } = await engine.peek(requestOf())
    expect(limits.find(({ name }) => name === 'a')?.remaining).toBe(8)
  })

  it('8: behind a trusted proxy clients have their own addresses, and nobody else chooses one', async () => {
    const { engine } = bundleBench({
      ...bundle({ a: { rules: [bare(SMALL, { limit_keys: ['ip:address'] })] } }),
      trustedProxies: ['10.0.0.1'],
    })
    const passes = async (ip: string, client: string): Promise<boolean> =>
      (await engine.decide(requestOf({ ip, headers: { 'x-forwarded-for': client } }))).allowed
    expect([await passes('10.0.0.1', '192.0.2.1'), await passes('10.0.0.1', '192.0.2.2'), await passes('10.0.0.1', '192.0.2.3')]).toEqual([
      true,
      true,
      true,
    ])
    expect([
      await passes('10.0.0.1', '192.0.2.1'),
      await passes('203.0.113.1', '192.0.2.7'),
      await passes('203.0.113.1', '192.0.2.8'),
    ]).toEqual([false, true, false])
  })

  it('8: parameters of the query are read, and a query does not take a request out of pathExact', async () => {
    const rules = [bare({ rps: 1, burst: 1 }, { limit_keys: ['query:k'] })]
    const { engine } = bundleBench(bundle({ a: { selector: { pathExact: '/x' }, rules } }))
    const passes = async (path: string): Promise<boolean> => (await engine.decide(requestOf({ path }))).allowed
    expect([await passes('/x?k=1'), await passes('/x?k=2'), await passes('/x?x=1&k=1'), await passes('/x?k=2#k=3')]).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it.each(['inf', 'nan', 'Infinity', 'NaN', '1e308', '1e309', '-inf'])(
    '10: a cost of %s costs the default, and every wait is a number',
    async (w) => {
      const { engine } = bundleBench(bare({ rps: 1, burst: 2, cost_source: 'header:w' }))
      const facts = requestOf({ headers: { w } })
      expect((await engine.decide(facts)).limits[0]?.remaining).toBe(1)
      await engine.decide(facts)
      expect((await sent(engine, facts)).get('Retry-After')).toMatch(/^[12]$/)
    },
  )

  it('10: a client that says it weighs nothing weighs one', async () => {
    const { engine } = bundleBench(bare({ rps: 1, burst: 2, cost_source: 'header:w' }))
    expect((await engine.decide(requestOf({ headers: { w: '0.0001' } }))).limits[0]?.remaining).toBe(1)
  })

  it('11: the case of a header in cost_source does not matter', async () => {
    const { engine } = bundleBench(bare({ rps: 1, burst: 20, cost_source: 'header:X-Weight' }))
    expect((await engine.decide(requestOf({ headers: { 'x-weight': '15' } }))).limits[0]?.remaining).toBe(5)
  })

  it('12: clients behind one gateway get different times, each always its own, none too early', async () => {
    const { engine } = bundleBench(bare({ rps: 0.05, burst: 1 }, { limit_keys: ['header:k'] }))
    const waits = new Set<number>()
    for (let client = 0; client < 40; client += 1) {
      const facts = requestOf({ headers: { k: `k${client}` } })
      await engine.decide(facts)
      const wait = Number((await sent(engine, facts)).get('Retry-After'))
      expect(Number((await sent(engine, facts)).get('Retry-After'))).toBe(wait)
      expect(wait).toBeGreaterThanOrEqual(20)
      expect(wait).toBeLessThanOrEqual(30)
      waits.add(wait)
    }
    expect(waits.size).toBeGreaterThan(5)
  })

  it('12: what spreads them is the subject, the address, the path and the key of the limit', async () => {
    const { engine } = bundleBench(bare({ rps: 1, burst: 1 }, { limit_keys: ['header:k'] }))
    // Only a refusal has one: nothing else is spread.
    const identity = async (more: Partial<RequestFacts>): Promise<string> => {
      await engine.decide(requestOf({ headers: { k: 'a' }, ...more }))
      return (await engine.decide(requestOf({ headers: { k: 'a' }, ...more }))).identity
    }
    const all = [{}, { claims: { sub: 'u' } }, { ip: '192.0.2.9' }, { path: '/y' }, { headers: { k: 'b' } }]
    expect(new Set(await Promise.all(all.map(identity))).size).toBe(all.length)
    expect(await identity({})).toBe(await identity({ path: '/x?again' }))
  })

  it('12: Retry-After is floor(base * (1 + u / 2) + v), base in whole seconds', async () => {
    const { engine } = bundleBench(bare({ rps: 0.03, burst: 1 }, { limit_keys: ['header:k'] }))
    for (let client = 0; client < 20; client += 1) {
      const facts = requestOf({ headers: { k: `k${client}` } })
      await engine.decide(facts)
      const { identity, retryAfterMs = 0 } = await engine.decide(facts)
      const base = Math.ceil(retryAfterMs / 1_000)
      const [u, v] = [hash32(identity, 1) / 2 ** 32, hash32(identity, 2) / 2 ** 32]
      expect(base).toBe(34)
      expect((await sent(engine, facts)).get('Retry-After')).toBe(String(Math.floor(base * (1 + u / 2) + v)))
    }
  })

  it('a dialect of headers is sent on every refusal: why, nothing left, and t exact where Retry-After is spread', async () => {
    const { engine } = bundleBench(bare({ rps: 0.1, burst: 5 }, { limit_keys: ['ip:address'] }))
    await engine.decide(requestOf({ cost: 4 }))
    const refused = await sent(engine, requestOf({ cost: 5 }))
    expect(refused.get('X-Fairvisor-Reason')).toBe('token_bucket_exceeded')
    expect([refused.get('RateLimit-Remaining'), refused.get('X-RateLimit-Remaining'), refused.get('RateLimit')]).toEqual([
      '0',
      '0',
      '"r";r=0;t=40',
    ])
    expect(Number(refused.get('Retry-After'))).toBeGreaterThanOrEqual(40)
    const impossible = await sent(engine, requestOf({ cost: 6 }))
    expect([impossible.get('X-Fairvisor-Reason'), impossible.has('Retry-After')]).toEqual(['token_bucket_exceeded', false])
  })
})
