import { describe, expect, it } from 'vitest'
import { local } from './in-process.ts'

const POLICY = `
version: 1
rules:
  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 3 }
  - { name: path, match: { path: /a/** }, key: [], rate: 1/h, burst: 100 }
`
const of = (user: string, more = {}) => ({ method: 'GET', path: '/a/b', headers: { 'X-User': user }, ...more })

describe('POST /v1/checks', () => {
  it('answers many requests in their order, each as /v1/check would', async () => {
    const questions = [of('a', { cost: 2 }), { key: 'a', limit: 'user' }, of('a'), of('b'), { key: 'z', limit: 'path', cost: 101 }]
    const [many, one] = [await local(POLICY), await local(POLICY)]
    const answer = await many.post('/v1/checks', questions)
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    const together = (await answer.json()) as { at: number; outcome: string }[]
    const apart = []
    for (const requestBody of questions) apart.push((await (await one.post('/v1/check', requestBody)).json()) as { at: number })
    const timeless = (decisions: readonly { at: number }[]): unknown =>
      JSON.parse(JSON.stringify(decisions, (name, value: unknown) => (/^at(Micros)?$|Ms$/.test(name) ? 0 : value)))
    expect(timeless(together)).toEqual(timeless(apart))
    expect(together.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed', 'denied', 'allowed', 'impossible'])
    expect(JSON.stringify(together)).not.toContain('identity')
  })

  it.each([
    [[of('a'), { key: 7 }], 1, 'request 1: The field key is a number; expected a text'],
    [[of('a'), of('a'), []], 2, 'request 2: The body must be an object'],
    [[of('a'), of('a', { cost: -5 })], 1, 'request 1: cost is -5'],
    [[of('a', { cost: '0x10' })], 0, 'request 0: The field cost is \\"0x10\\"'],
    [{ key: 'a' }, undefined, 'must be a list of requests'],
    [Array.from({ length: 1_001 }, () => of('a')), undefined, 'has 1001 requests; at most 1000'],
  ])('refuses a list with something wrong in it, and charges nothing: %#', async (body, index, message) => {
    const service = await local(POLICY)
    const answer = await service.post('/v1/checks', body)
    const text = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    expect(text).toContain(message)
    expect((JSON.parse(text) as { index?: number }).index).toBe(index)
    const after = (await (await service.post('/v1/check', of('a', { cost: 3 }))).json()) as { outcome: string }
    expect(after.outcome).toBe('allowed')
  })

  it('answers an empty list with an empty list', async () => {
    expect(await (await (await local(POLICY)).post('/v1/checks', [])).json()).toEqual([])
  })
})
