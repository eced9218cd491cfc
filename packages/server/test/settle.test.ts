import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { createVerifier } from '../src/identity/verifier.ts'
import { local } from './in-process.ts'

const json = async (answer: Response | Promise<Response>): Promise<Record<string, unknown>> => (await (await answer).json()) as never

describe('a token that expires between /v1/reserve and /v1/settle', () => {
  const POLICY = `
version: 1
rules:
  - { name: user, key: ["jwt:sub"], rate: 1/d, burst: 10 }
  - { name: all, key: [], rate: 1/d, burst: 100 }
`
  const START = 1_000_000_000
  const secret = new Uint8Array(32).fill(7)
  const bearer = async (seconds: number, sub = 'ada'): Promise<string> =>
    `Bearer ${await new SignJWT({ sub, exp: START + seconds }).setProtectedHeader({ alg: 'HS256' }).sign(secret)}`
  const service = async (policy: string) => {
    const clock = { now: START * 1_000 }
    const { claims } = createVerifier({
      keys: async () => secret as never,
      choice: { by: 'secret', file: 'secret', algorithms: ['HS256'], leewayMs: 0 },
      now: () => clock.now,
      count: () => {},
    })
    return { clock, ...(await local(policy, { claims })) }
  }
  const call = (authorization: string) => ({ method: 'POST', path: '/chat', headers: { authorization } })
  const held = (name: string, charged: number) => ({ name, held: 6, charged, overage: 0 })

  it('settles only rules that read no claim; a fresh token settles the others', async () => {
    const { clock, post, engine } = await service(POLICY)
    const { id } = await json(post('/v1/reserve', { ...call(await bearer(10)), cost: 6 }))
    clock.now += 10_000
    const expired = await json(post('/v1/settle', { ...call(await bearer(10)), id, actual: 2 }))
    expect(expired).toMatchObject({ status: 'settled', limits: [held('all', 2)] })
    const left = async (): Promise<unknown> =>
      (await engine.peek({ method: 'POST', path: '/', headers: {}, claims: { sub: 'ada' } })).limits.map(({ remaining }) => remaining)
    expect(await left()).toEqual([4, 98])
    const fresh = await json(post('/v1/settle', { ...call(await bearer(99)), id, actual: 2 }))
    expect(fresh).toMatchObject({ limits: [held('user', 2), held('all', 2)] })
    expect(await left()).toEqual([8, 98])
  })

  it('is unknown if every rule reads a claim, and nobody settles it with the token of another', async () => {
    const { clock, post } = await service(POLICY.replace(/ {2}- \{ name: all.*\n/, ''))
    const { id } = await json(post('/v1/reserve', { ...call(await bearer(10)), cost: 6 }))
    clock.now += 10_000
    for (const token of [await bearer(10), await bearer(99, 'eve')]) {
      for (const [path, fields] of [
        ['settle', { actual: 2 }],
        ['extend', { holdMs: 5_000 }],
        ['cancel', {}],
      ] as const)
        expect(await json(post(`/v1/${path}`, { ...call(token), ...fields, id }))).toMatchObject({ status: 'unknown' })
    }
    expect(await json(post('/v1/settle', { ...call(await bearer(99)), id, actual: 2 }))).toMatchObject({
      status: 'settled',
      repeated: false,
      limits: [held('user', 2)],
    })
  })
})

describe('the body of /v1/settle', () => {
  const POLICY = 'version: 1\nrules: [{ name: user, key: ["header:x-user"], rate: 1/d, burst: 10 }]\n'
  const CALL = { key: 'ada', limit: 'user' }
  const MOST = 'and at most 9007199254 with at most six decimals'
  const reserved = async () => {
    const { post, url } = await local(POLICY)
    const { id } = await json(post('/v1/reserve', { ...CALL, cost: 6 }))
    const sent = (body: string): Promise<Response> => fetch(`${url}/v1/settle`, { method: 'POST', body })
    return { post, id: id as string, sent, text: (more: string) => `{"key":"ada","limit":"user","id":${JSON.stringify(id)},${more}}` }
  }

  it.each([
    ['"actual":-1', `the actual cost is -1, expected a number of at least 0 ${MOST}`],
    ['"actual":0.0000001', `the actual cost is 1e-7, expected a number of at least 0 ${MOST}`],
    ['"actual":9007199254740992', `the actual cost is 9007199254740992, expected a number of at least 0 ${MOST}`],
    ['"actual":1e400', `the actual cost is Infinity, expected a number of at least 0 ${MOST}`],
    ['"actual":NaN', 'The body is not JSON'],
    ['"actual":"2"', 'The field actual is "2"; expected a number.'],
    ['"actual":null', 'The field actual is null; expected a number.'],
    ['"actual":{}', 'The field actual is an object; expected a number.'],
    ['"id":5', 'The field id is a number; expected what /v1/reserve returned as id.'],
    ['"id":""', 'The field id is empty; expected what /v1/reserve returned as id.'],
    ['"cost":-1', `cost is -1, expected a number above 0 ${MOST}`],
    ['"cost":9007199254740992', `cost is 9007199254740992, expected a number above 0 ${MOST}`],
    ['"cost":1e400', `The field cost is too large; expected a number above 0 ${MOST}.`],
    ['"cost":NaN', 'The body is not JSON'],
    ['"actual":2,"amount":2', 'The field "amount" is not known here; allowed are key, limit, cost, id, actual.'],
    ['"actual":2,"holdMs":5', 'The field "holdMs" is not known here; allowed are key, limit, cost, id, actual.'],
    ['"actual":2,"constructor":1', 'The field "constructor" is not known here'],
    ['"actual":2,"__proto__":{"cost":1}', 'The field "__proto__" is not known here'],
  ])('%s is refused, and the hold stays open', async (member, detail) => {
    const { post, id, sent, text } = await reserved()
    const answer = await sent(text(member))
    expect([answer.status, (await json(answer))['detail']]).toEqual([400, expect.stringContaining(detail)])
    expect(await json(post('/v1/settle', { ...CALL, id, actual: 0 }))).toMatchObject({ repeated: false, limits: [{ held: 6, charged: 0 }] })
  })

  it('a cost is not what was used: without actual, what was held stays charged', async () => {
    const { sent, text } = await reserved()
    expect(await json(sent(text('"cost":2')))).toMatchObject({ status: 'settled', limits: [{ held: 6, charged: 6 }] })
  })

  it('the largest amount is charged as far as the limit can', async () => {
    const { sent, text } = await reserved()
    // The bucket is charged 20 tokens: its 10 tokens, and 10 of debt, which is one burst below empty. It refills by a token a day meanwhile.
    expect(await json(sent(text('"actual":9007199254')))).toMatchObject({
      overage: expect.closeTo(9_007_199_234, 3),
      limits: [{ held: 6, charged: expect.closeTo(20, 3) }],
    })
  })
})
