import { describe, expect, it } from 'vitest'
import { pseudonymOf } from '../src/identity/identities.ts'
import { applyOverrides, holdOverrides } from '../src/policy/held-overrides.ts'
import { createOverrideOrder } from '../src/workers/shared-state.ts'
import { ADMIN, local } from './in-process.ts'

const POLICY = `
version: 1
rules:
  - { name: user, key: ["header:x-user"], rate: 1/h, burst: 2 }
  - { name: both, key: ["header:x-user", "method:"], rate: 1/h, burst: 50 }
  - { name: net, key: ["ip:address"], rate: 1/h, burst: 60 }
overrides:
  - { rule: user, key: filed, rate: 1/h, burst: 9, until: 2200-01-01T00:00:00Z }
`

async function service(more = '', options: Parameters<typeof local>[1] = {}) {
  const { url, post, engine } = await local(POLICY + more, options)
  const call = async (method: string, key: string, body?: unknown, below = '/override'): Promise<[number, Record<string, unknown>]> => {
    const written = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const place = `${url}/v1/keys/${encodeURIComponent(key)}${below}`
    const answer = await fetch(place, { method, headers: ADMIN, ...(written === undefined ? {} : { body: written }) })
    return [answer.status, (await answer.json()) as Record<string, unknown>]
  }
  const limitsOf = async (facts: object): Promise<unknown> => {
    const { limits } = (await (await post('/v1/check', { path: '/', ...facts })).json()) as { limits: { name: string; limit: number }[] }
    return Object.fromEntries(limits.map(({ name, limit }) => [name, limit]))
  }
  return { url, engine, call, limitsOf }
}

describe('/v1/keys/:key/override', () => {
  it('sets another limit from the next decision on, shows it, and takes it back', async () => {
    const { call, limitsOf, url } = await service()
    const ada = { headers: { 'x-user': 'ada' } }
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const shown = { rule: 'user', key: ['ada'], algorithm: 'token-bucket', limit: 7, windowMs: 25_200_000, until, from: 'put' }
    expect(await limitsOf(ada)).toMatchObject({ user: 2 })
    expect(await call('PUT', 'ada', { rule: 'user', rate: '1/h', burst: 7, until })).toEqual([200, { overrides: [shown] }])
    expect(await limitsOf(ada)).toMatchObject({ user: 7 })
    expect(await limitsOf({ headers: { 'x-user': 'bob' } })).toMatchObject({ user: 2 })
    const inspected = (await (await fetch(`${url}/v1/keys/ada?limit=user`, { headers: ADMIN })).json()) as { states: unknown }
    expect(inspected).toMatchObject({ states: [{ name: 'user', limit: 7 }], overrides: [shown] })
    expect(await call('PUT', 'ada', { rate: '2/h', burst: 3 }, '/override?limit=user')).toMatchObject([200, { overrides: [{ limit: 3 }] }])
    expect(await limitsOf(ada)).toMatchObject({ user: 3 })
    expect(await call('DELETE', 'bob')).toEqual([200, { withdrawn: 0 }])
    expect(await call('DELETE', 'ada', undefined, '/override?limit=net')).toEqual([200, { withdrawn: 0 }])
    expect(await call('DELETE', 'ada')).toEqual([200, { withdrawn: 1 }])
    expect(await limitsOf(ada)).toMatchObject({ user: 2 })
    expect(await call('GET', 'ada', undefined, '')).toMatchObject([200, { overrides: [] }])
  })

  it('knows a key of several values, and an address in any spelling', async () => {
    const { call, limitsOf } = await service()
    expect(await call('PUT', 'ada', { rule: 'both', key: ['ada', 'post'], rate: '1/h', burst: 5 })).toMatchObject([200, {}])
    expect(await limitsOf({ method: 'POST', headers: { 'x-user': 'ada' } })).toMatchObject({ both: 5 })
    expect(await limitsOf({ method: 'GET', headers: { 'x-user': 'ada' } })).toMatchObject({ both: 50 })
    expect(await call('PUT', '2001:DB8:0::1', { rule: 'net', limit: 4, window: '1m', algorithm: 'fixed-window' })).toMatchObject([
      200,
      { overrides: [{ key: ['2001:db8::/64'], algorithm: 'fixed-window', limit: 4, windowMs: 60_000 }] },
    ])
    expect(await limitsOf({ ip: '2001:db8::2' })).toMatchObject({ net: 4 })
    expect(await call('DELETE', '2001:db8::9', undefined, '/override?limit=net')).toEqual([200, { withdrawn: 1 }])
    expect(await call('DELETE', 'ada')).toEqual([200, { withdrawn: 1 }])
  })

  it('shows those of the file, which stay, and go after one that was put', async () => {
    const { call, limitsOf } = await service()
    const filed = { headers: { 'x-user': 'filed' } }
    expect(await call('GET', 'filed', undefined, '')).toMatchObject([
      200,
      { overrides: [{ rule: 'user', limit: 9, until: '2200-01-01T00:00:00.000Z', from: 'policy' }] },
    ])
    const put = await call('PUT', 'filed', { rule: 'user', rate: '1/h', burst: 4 })
    expect(put).toMatchObject([
      200,
      {
        overrides: [
          { limit: 4, from: 'put' },
          { limit: 9, from: 'policy' },
        ],
      },
    ])
    expect(await limitsOf(filed)).toMatchObject({ user: 4 })
    expect(await call('DELETE', 'filed')).toEqual([200, { withdrawn: 1 }])
    expect(await call('DELETE', 'filed')).toEqual([200, { withdrawn: 0 }])
    expect(await limitsOf(filed)).toMatchObject({ user: 9 })
  })

  it.each([
    ['[]', 'The body must be an object'],
    ['null', 'The body must be an object'],
    ['{', 'The body is not JSON'],
    [{}, 'override.rule is missing: expected the name of a rule'],
    [{ rule: 'user' }, 'override.rate is missing'],
    [{ rule: 'user', rate: '1/x', burst: 1 }, 'override.rate is "1/x": expected'],
    [{ rule: 'user', rate: '1/h', burst: 0 }, 'override.burst is 0: expected'],
    [{ rule: 'user', rate: '1/h', burst: 1, until: 'soon' }, 'override.until is "soon": expected an instant such as'],
    [
      { rule: 'user', rate: '1/h', burst: 1, until: '2001-01-01T00:00:00Z' },
      'override.until is "2001-01-01T00:00:00Z": expected an instant to come',
    ],
    [{ rule: 'user', rate: '1/h', burst: 1, size: 1 }, 'size'],
    [{ rule: 'user', algorithm: 'sliding-window-counter', limit: 5, window: 60 }, "override.window: 60 has no unit: write '60s'"],
    [{ rule: 'user', algorithm: 'concurrency', limit: 5, hold: 30 }, "override.hold: 30 has no unit: write '30s'"],
    ['{"rule":"user","rate":"1/h","burst":1,"__proto__":{}}', '__proto__'],
    [{ rule: 'both', rate: '1/h', burst: 1 }, 'override.key has 1 value: expected 2 (header:x-user, method:)'],
    [{ rule: 'net', rate: '1/h', burst: 1 }, 'override.key 1 is not a value of ip:address'],
    [{ rule: 'user', key: 'bob', rate: '1/h', burst: 1 }, 'does not have the key of the path in it'],
    [{ rule: 'user', key: { toString: 1 }, rate: '1/h', burst: 1 }, 'does not have the key of the path in it'],
    [{ rule: 'user', key: [{ toString: 1 }], rate: '1/h', burst: 1 }, 'does not have the key of the path in it'],
  ])('refuses %j and says what is wrong, without the key', async (body, message) => {
    const { call, engine } = await service()
    const [status, { detail }] = await call('PUT', 'ada-9', body)
    expect([status, detail]).toEqual([400, expect.stringContaining(message)])
    expect(detail).not.toContain('ada-9')
    expect(engine.overrides()).toEqual([])
  })

  it('refuses two names of a rule, and one that no rule has', async () => {
    const { call } = await service()
    expect(await call('PUT', 'ada', { rule: 'both', rate: '1/h', burst: 1 }, '/override?limit=user')).toMatchObject([400, {}])
    expect(await call('DELETE', 'ada', undefined, '/override?limit=none')).toMatchObject([404, {}])
  })

  it('shows pseudonyms where the policy requires them', async () => {
    const pseudonym = pseudonymOf(Buffer.from('secret'))
    const { call, limitsOf } = await service('identifiers: { mode: hmac, secretFile: ./secret }\n', { pseudonym })
    const [status, body] = await call('PUT', 'ada', { rule: 'both', key: ['ada', 'GET'], rate: '1/h', burst: 5 })
    expect([status, body]).toMatchObject([200, { overrides: [{ key: [pseudonym('header:x-user\u0000ada'), 'GET'], limit: 5 }] }])
    expect(JSON.stringify(body)).not.toContain('ada')
    expect(await limitsOf({ headers: { 'x-user': 'ada' } })).toMatchObject({ both: 5 })
    expect(await call('DELETE', 'ada')).toEqual([200, { withdrawn: 1 }])
  })
})

describe('10,000 overrides that were put', () => {
  it('refuse another one with 400, also where other workers set them, until one is removed', async () => {
    const { call, engine } = await service()
    const limit = { rule: 'user', rate: '1/h', burst: 1 }
    const relayed: unknown[] = []
    const overrides = holdOverrides(engine, async (changes) => relayed.push(changes))
    const { add } = applyOverrides(engine, (error) => expect.unreachable(String(error)))
    for (let key = 0; key < 9_999; key += 1) add([{ rule: 'user', key: [`k${key}`], fields: { ...limit, key: [`k${key}`] } }], true)
    expect(await call('PUT', 'ada', limit)).toMatchObject([200, {}])
    expect(await call('PUT', 'bob', limit)).toMatchObject([400, { detail: expect.stringContaining('there are 10000 already') }])
    await expect(overrides.set({ ...limit, key: 'bob' })).rejects.toThrow('there are 10000 already')
    expect(relayed).toEqual([])
    expect(await call('PUT', 'ada', { ...limit, burst: 3 })).toMatchObject([200, { overrides: [{ limit: 3 }] }])
    expect(await call('DELETE', 'k7')).toEqual([200, { withdrawn: 1 }])
    expect(await call('PUT', 'bob', limit)).toMatchObject([200, {}])
  })
})

describe('overrides for workers that begin later', () => {
  it('are those that hold: the last of each key, and none that was taken back or has ended', () => {
    let now = 0
    const held = createOverrideOrder<number>(
      [],
      () => {},
      () => now,
    )
    const fields = { rule: 'a', key: ['x'], rate: '1/s', burst: 1 }
    held.add(0, [{ rule: 'a', key: ['x'], fields }])
    held.add(0, [{ rule: 'a', key: ['x'], fields: { ...fields, burst: 2 } }])
    held.add(0, [{ rule: 'a', key: ['y'], fields: { ...fields, key: ['y'], until: '1970-01-01T00:00:10Z' } }])
    held.add(0, [{ rule: 'a', key: ['z'], fields }])
    held.add(0, [{ rule: 'a', key: ['z'] }])
    held.add(0, [{ rule: 'a', key: ['never'] }])
    expect(held.list().map(({ key, fields: taken }) => [key, taken?.burst])).toEqual([
      [['x'], 2],
      [['y'], 1],
    ])
    now = 10_000
    expect(held.list().map(({ key }) => key)).toEqual([['x']])
  })
})
