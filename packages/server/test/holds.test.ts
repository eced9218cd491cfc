import { memoryStore } from 'sluice'
import { describe, expect, it } from 'vitest'
import { holdTokens } from '../src/identity/hold-tokens.ts'
import { local } from './in-process.ts'

const POLICY = `
version: 1
trustedProxies: []
rules:
  - { name: per-key, match: { path: /api/** }, key: [header:x-api-key], rate: 1/h, burst: 10 }
  - { name: all, match: { path: /api/** }, key: [], rate: 1/h, burst: 100 }
  - { name: user, match: { path: /never }, key: [header:x-user], rate: 1/h, burst: 10 }
`
const CALL = { method: 'POST', path: '/api/chat', headers: { 'x-api-key': 'a' } }

const json = async (answer: Response | Promise<Response>): Promise<Record<string, unknown>> => (await (await answer).json()) as never

describe('reservations of the service', () => {
  it('hold the cost of a request under all its rules, and are settled with what was used', async () => {
    const { post, engine } = await local(POLICY)
    const reserved = await json(post('/v1/reserve', { ...CALL, cost: 6, holdMs: 5_000 }))
    expect(reserved).toMatchObject({
      outcome: 'allowed',
      limits: [
        { name: 'per-key', remaining: 4 },
        { name: 'all', remaining: 94 },
      ],
    })
    const { id } = reserved
    const settled = await json(post('/v1/settle', { ...CALL, id, actual: 2 }))
    expect(settled).toMatchObject({
      status: 'settled',
      repeated: false,
      overage: 0,
      limits: [
        { name: 'per-key', held: 6, charged: 2 },
        { name: 'all', held: 6, charged: 2 },
      ],
    })
    expect(await json(post('/v1/cancel', { ...CALL, id }))).toMatchObject({
      status: 'settled',
      repeated: true,
      limits: [{ charged: 2 }, {}],
    })
    const { limits } = await engine.peek({ method: 'POST', path: '/api/chat', headers: { 'x-api-key': 'a' } })
    expect(limits.map(({ remaining }) => remaining)).toEqual([8, 98])
  })

  it('by key: extended, cancelled, and charged once for one id', async () => {
    const { post } = await local(POLICY)
    const call = { key: 'alan', limit: 'user' }
    const first = await json(post('/v1/reserve', { ...call, cost: 6, id: 'order 7' }))
    const again = await json(post('/v1/reserve', { ...call, cost: 6, id: 'order 7' }))
    expect(again).toMatchObject({ outcome: 'allowed', id: first['id'], limits: [{ remaining: 4 }] })
    expect(await json(post('/v1/extend', { ...call, id: first['id'], holdMs: 90_000 }))).toMatchObject({ status: 'open' })
    expect(await json(post('/v1/cancel', { ...call, id: first['id'] }))).toMatchObject({ status: 'settled', limits: [{ charged: 0 }] })
    for (const [cost, why] of [
      [5, 'was used for a cost of 6'],
      [6, 'the id "order 7" was settled or cancelled; use a new id'],
    ]) {
      const reused = await post('/v1/reserve', { ...call, cost, id: 'order 7' })
      expect([reused.status, (await json(reused))['detail']]).toEqual([400, expect.stringContaining(why as string)])
    }
  })

  it('are bounded by the policy for each key', async () => {
    const { post } = await local(POLICY.replace('rules:', 'reservations: { maxHolds: 1 }\nrules:'))
    const { id } = await json(post('/v1/reserve', CALL))
    expect(await json(post('/v1/reserve', { ...CALL, headers: { 'x-api-key': 'b' } }))).toMatchObject({ outcome: 'allowed' })
    const denied = await json(post('/v1/reserve', CALL))
    expect(denied).toMatchObject({ outcome: 'denied', reason: 'holds', limitName: 'maxHolds' })
    expect(denied).not.toHaveProperty('id')
    await post('/v1/cancel', { ...CALL, id })
    expect(await json(post('/v1/reserve', CALL))).toMatchObject({ outcome: 'allowed' })
  })

  it('that are denied have no id, and ?status=http sets the status', async () => {
    const { post } = await local(POLICY)
    const denied = await post('/v1/reserve?status=http', { ...CALL, cost: 6, id: 'a' })
    expect(denied.status).toBe(200)
    const second = await post('/v1/reserve?status=http', { ...CALL, cost: 6, id: 'b' })
    expect(second.status).toBe(429)
    expect(await json(second)).not.toHaveProperty('id')
  })

  it('are settled only with an id that this service has signed', async () => {
    const { post } = await local(POLICY)
    const { id } = await json(post('/v1/reserve', { ...CALL, cost: 6 }))
    const [plain = ''] = (id as string).split('.')
    const strange = holdTokens(() => undefined, true).tokenOf(plain, undefined)
    for (const wrong of [plain, `${plain}.`, strange, `x${id as string}`, 'x'.repeat(300)]) {
      expect((await post('/v1/settle', { ...CALL, id: wrong, actual: 0 })).status).toBe(403)
    }
    for (const wrong of [undefined, '', 7]) expect((await post('/v1/settle', { ...CALL, id: wrong, actual: 0 })).status).toBe(400)
    const other = { ...CALL, headers: { 'x-api-key': 'b' } }
    // This request has another API key. The hold of the rule for everybody is found, but not that of the rule for each key.
    expect(await json(post('/v1/settle', { ...other, id, actual: 6 }))).toMatchObject({ limits: [{ name: 'all' }] })
    for (const actual of [-1, 1e300, '1', null]) expect((await post('/v1/settle', { ...CALL, id, actual })).status).toBe(400)
    for (const holdMs of [0, -1, undefined, '1s', 1e9]) expect((await post('/v1/extend', { ...CALL, id, holdMs })).status).toBe(400)
  })

  it('by key are changed only by the key that they were made for, although another one chose the same id', async () => {
    const { post } = await local(POLICY)
    const [mine, theirs] = [
      { key: 'a', limit: 'user' },
      { key: 'b', limit: 'user' },
    ]
    const { id } = await json(post('/v1/reserve', { ...mine, cost: 6, id: 'order 7' }))
    const { id: other } = await json(post('/v1/reserve', { ...theirs, cost: 6, id: 'order 7' }))
    expect(other).not.toBe(id)
    for (const [path, fields] of [
      ['settle', { actual: 0 }],
      ['extend', { holdMs: 90_000 }],
      ['cancel', {}],
    ] as const) {
      const refused = await post(`/v1/${path}`, { ...theirs, ...fields, id })
      expect([refused.status, (await json(refused))['detail']]).toEqual([403, 'This service has not returned this id for this request.'])
    }
    // What was reserved by key is not found by a request that states path and headers instead of the key.
    expect((await post('/v1/cancel', { ...CALL, id })).status).toBe(403)
    expect(await json(post('/v1/settle', { ...theirs, id: other, actual: 2 }))).toMatchObject({ repeated: false, limits: [{ charged: 2 }] })
    expect(await json(post('/v1/cancel', { ...mine, id }))).toMatchObject({ repeated: false, limits: [{ charged: 0 }] })
  })

  it('need a secret in the policy if the service has several processes', () => {
    const several = holdTokens(() => undefined, false)
    expect(several.tokenOf('a', 'k')).toBeUndefined()
    expect(several.idOf('a.b', 'k')).toBeUndefined()
    const secret = new Uint8Array(32).fill(7)
    const [one, other] = [holdTokens(() => secret, false), holdTokens(() => secret, false)]
    for (const key of ['k', '', undefined]) expect(other.idOf(one.tokenOf('a.b', key) as string, key)).toBe('a.b')
    for (const [made, used] of [
      ['k', 'j'],
      ['k', undefined],
      [undefined, 'k'],
      ['', undefined],
    ] as const) {
      expect(other.idOf(one.tokenOf('a.b', made) as string, used)).toBeUndefined()
    }
  })

  it('of a store without holds answer 501', async () => {
    const store = memoryStore()
    const { post } = await local(POLICY, { store: { ...store, capabilities: { ...store.capabilities, changes: ['adjust'] } } })
    expect((await post('/v1/reserve', CALL)).status).toBe(501)
  })
})
