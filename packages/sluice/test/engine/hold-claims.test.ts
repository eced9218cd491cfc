import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/identity/request.ts'
import { createGate } from '../../src/http/gate.ts'
import type { Engine } from '../../src/policy.ts'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'
import { bench, facts } from './bench.ts'

const RULES = 'rules: [{ name: tokens, key: ["jwt:sub"], rate: 1/day, burst: 100, cost: 40 }]'
const LIFE_MS = 10_000

/** Tokens such as `ada` are valid until `LIFE_MS` have passed. */
function expiring(): { readonly engine: Engine; readonly clock: ManualClock } {
  const time = manualClock()
  const started = time.now()
  const claims = ({ headers }: RequestFacts): { sub: string } => {
    if (time.now() - started > LIFE_MS * 1_000) throw new Error('expired')
    return { sub: String(headers['authorization']) }
  }
  return { engine: bench(RULES, { claims, clock: time }).engine, clock: time }
}

const of = (authorization: string): RequestFacts => facts({ headers: { authorization } })
const remaining = async (engine: Engine, sub: string): Promise<number | undefined> =>
  (await engine.peek(facts({ claims: { sub } }))).limits[0]?.remaining

describe('a reservation whose token expires before its request has ended', () => {
  it('is settled, extended and cancelled by the same request object', async () => {
    const { engine, clock } = expiring()
    const [one, two] = [of('ada'), of('ada')]
    const [first, second] = [await engine.reserve(one), await engine.reserve(two)]
    expect(await remaining(engine, 'ada')).toBe(20)
    clock.advance(LIFE_MS + 1)
    expect((await engine.extend(one, first.id, 60_000)).status).toBe('open')
    expect((await engine.settle(one, first.id, 1)).status).toBe('settled')
    expect((await engine.cancel(two, second.id)).status).toBe('settled')
    expect(await remaining(engine, 'ada')).toBe(99)
  })

  it('is not changed by another request object, whose token is verified', async () => {
    const { engine, clock } = expiring()
    const request = of('ada')
    const { id } = await engine.reserve(request)
    expect((await engine.settle(of('eve'), id, 0)).status).toBe('unknown')
    clock.advance(LIFE_MS + 1)
    expect((await engine.settle(of('ada'), id, 0)).status).not.toBe('settled')
    expect(await remaining(engine, 'ada')).toBe(60)
  })

  it('is no way for the same object to reserve again', async () => {
    const { engine, clock } = expiring()
    const request = of('ada')
    await engine.reserve(request)
    clock.advance(LIFE_MS + 1)
    await engine.reserve(request)
    expect(await remaining(engine, 'ada')).toBe(60)
  })

  it('is settled after the same object has reserved again', async () => {
    const { engine, clock } = expiring()
    const request = of('ada')
    const first = await engine.reserve(request)
    const second = await engine.reserve(request)
    clock.advance(LIFE_MS + 1)
    const anonymous = await engine.reserve(request)
    expect((await engine.settle(request, anonymous.id, 0)).status).toBe('settled')
    expect((await engine.settle(request, first.id, 1)).status).toBe('settled')
    expect((await engine.cancel(request, second.id)).status).toBe('settled')
    expect((await engine.settle(request, first.id, 1)).status).toBe('settled')
    expect(await remaining(engine, 'ada')).toBe(99)
  })

  it('is verified again after its object has reserved 1,000 times more; refused requests do not count', async () => {
    const { engine, clock } = expiring()
    const request = of('ada')
    const [first, second] = [await engine.reserve(request), await engine.reserve(request)]
    for (let count = 0; count < 9; count += 1) expect((await engine.reserve(request)).decision.allowed).toBe(false)
    await engine.cancel(request, second.id)
    for (let count = 0; count < 998; count += 1) await engine.cancel(request, (await engine.reserve(request)).id)
    clock.advance(LIFE_MS + 1)
    expect((await engine.extend(request, first.id, 60_000)).status).toBe('open')
    await engine.reserve(request)
    expect((await engine.extend(request, first.id, 60_000)).status).not.toBe('open')
  })

  it('is settled under the claims of the request, if it brings them', async () => {
    const { engine } = expiring()
    const request = of('ada')
    const { id } = await engine.reserve({ ...request, claims: { sub: 'bob' } })
    expect((await engine.settle({ ...request, claims: { sub: 'bob' } }, id, 1)).status).toBe('settled')
    expect(await remaining(engine, 'bob')).toBe(99)
  })

  it('is settled by what a response used', async () => {
    const { engine, clock } = expiring()
    const gate = createGate<object>(
      { engine, actualCost: () => 1 },
      { method: () => 'GET', target: () => '/', headers: () => ({ authorization: 'ada' }) },
    )
    const { settle } = await gate.check({}, undefined)
    clock.advance(LIFE_MS + 1)
    settle?.({ status: 200, response: {}, whole: true })
    await expect.poll(() => remaining(engine, 'ada'), { interval: 2 }).toBe(99)
  })
})
