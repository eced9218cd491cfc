import { describe, expect, it } from 'vitest'
import { ADMIN, local, TOKEN } from './in-process.ts'

const policyOf = (burst: number, more = ''): string =>
  `version: 1\n${more}rules:\n  - { name: user, key: ["header:x-user"], rate: 1/h, burst: ${burst} }\n`
const put = (url: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/policy`, { method: 'PUT', headers: { ...ADMIN, ...headers }, body })

describe('administration', () => {
  it.each([
    ['nothing', {}],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['a part of it', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['no token', { authorization: 'Bearer' }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['the bare token', { authorization: TOKEN }],
  ])('is refused to who brings %s', async (_what, headers) => {
    const { url, policy } = await local(policyOf(3))
    const before = policy.current
    for (const [method, path] of [
      ['GET', '/v1/policy'],
      ['PUT', '/v1/policy'],
      ['GET', '/v1/keys?top=3'],
      ['GET', '/v1/keys/a'],
      ['DELETE', '/v1/keys/a'],
      ['PUT', '/v1/keys/a/block'],
      ['DELETE', '/v1/keys/a/block'],
      ['PUT', '/v1/keys/a/override'],
      ['DELETE', '/v1/keys/a/override'],
    ] as const) {
      const answer = await fetch(`${url}${path}`, { method, headers, ...(method === 'PUT' ? { body: policyOf(9) } : {}) })
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="sluice"'])
      expect(await answer.text()).not.toContain(TOKEN)
    }
    expect([policy.current, policy.rejected]).toEqual([before, 0])
  })

  it('is off where the service was started without a token', async () => {
    const { url } = await local(policyOf(3), { token: undefined })
    for (const headers of [{}, ADMIN, { authorization: 'Bearer ' }]) expect((await fetch(`${url}/v1/policy`, { headers })).status).toBe(403)
  })

  it('has the methods it has', async () => {
    const { url } = await local(policyOf(3))
    for (const [path, allow] of [
      ['/v1/policy', 'GET, HEAD, PUT'],
      ['/v1/keys/a', 'GET, HEAD, DELETE'],
      ['/v1/keys/a/block', 'PUT, DELETE'],
      ['/v1/keys/a/override', 'PUT, DELETE'],
    ]) {
      const answer = await fetch(`${url}${path}`, { method: 'PATCH', headers: ADMIN })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
    }
    expect((await fetch(`${url}/v1/keys/a/b`, { headers: ADMIN })).status).toBe(404)
    expect((await fetch(`${url}/v1/keys/a/block/c`, { headers: ADMIN })).status).toBe(404)
    expect((await fetch(`${url}/v1/keys/a/override/c`, { headers: ADMIN })).status).toBe(404)
  })
})

describe('/v1/policy', () => {
  it('reports what the policy means, and not its text', async () => {
    const { url, policy } = await local(policyOf(3, 'store: redis://user:secret@127.0.0.1:1\n'))
    const answer = await fetch(`${url}/v1/policy`, { headers: ADMIN })
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({ dialect: 'native', hash: policy.current.hash, rules: [{ name: 'user', mode: 'enforce' }] })
    expect(text).not.toContain('secret')
  })

  it('takes in another one at once, and what keys have used stays used', async () => {
    const { url, post } = await local(policyOf(3))
    const check = async (): Promise<unknown> => (await post('/v1/check', { path: '/', headers: { 'x-user': 'a' } })).json()
    expect(await check()).toMatchObject({ outcome: 'allowed', limits: [{ limit: 3, remaining: 2 }] })
    const answer = await put(url, policyOf(2))
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ rules: [expect.objectContaining({ name: 'user' })] }),
    ])
    expect(await check()).toMatchObject({ outcome: 'allowed', limits: [{ limit: 2, remaining: 1 }] })
    const json = JSON.stringify({ version: 1, rules: [{ name: 'user', key: ['header:x-user'], rate: '1/h', burst: 1 }] })
    expect((await put(url, json, { 'content-type': 'application/json' })).status).toBe(200)
    expect(await check()).toMatchObject({ outcome: 'allowed', limits: [{ limit: 1, remaining: 0 }] })
    expect(await check()).toMatchObject({ outcome: 'denied' })
  })

  it('keeps the last good one where another has mistakes, reports each by its place, and counts it', async () => {
    const { url, policy, metrics } = await local(policyOf(3))
    const before = policy.current
    const answer = await put(url, 'version: 1\nrules:\n  - { name: user, key: [], rate: 1/x, burst: 0 }\n  - { nome: b }\n')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
    const problem = (await answer.json()) as { detail: string; issues: { line: number; column: number; path: string }[] }
    expect(problem.detail).toMatch(/^policy\.yaml:3:\d+: rules\[0\]\.rate is "1\/x": expected /)
    expect(problem.issues.length).toBeGreaterThanOrEqual(3)
    expect(problem.issues[0]).toMatchObject({ file: 'policy.yaml', line: 3, path: 'rules[0].rate' })
    for (const body of ['', '{', 'x'.repeat(300_000), '\u0000', 'a: &a [*a]', 'version: 1\n__proto__: { a: 1 }\nrules: []'])
      expect((await put(url, body)).status).toBe(400)
    expect((await put(url, 'version: 1', { 'content-type': 'application/json' })).status).toBe(400)
    expect([policy.current, policy.rejected]).toEqual([before, 8])
    expect(metrics.text()).toContain('\nsluice_policy_rejected_total 8\n')
    expect(metrics.text()).toContain(`\nsluice_policy_info{version="1",dialect="native",hash="${before.hash}"} 1\n`)
  })

  it('refuses another store, whose password it does not report', async () => {
    const { url, policy } = await local(policyOf(3, 'store: redis://u:first-secret@127.0.0.1:1\n'))
    const answer = await put(url, policyOf(3, 'store: redis://u:second-secret@127.0.0.1:2\n'))
    const text = await answer.text()
    expect([answer.status, policy.rejected]).toEqual([409, 1])
    expect(text).toContain('names the store redis://***@127.0.0.1:2, and redis://***@127.0.0.1:1 is in use: another store needs a restart')
    const other = await (await put(url, policyOf(3, 'store: redis://u:second-secret@127.0.0.1:1\n'))).text()
    expect(other).toContain('another login')
    expect(text + other).not.toContain('secret')
    expect((await put(url, policyOf(4, 'store: redis://u:first-secret@127.0.0.1:1\n'))).status).toBe(200)
  })
})

describe('/v1/keys/:key', () => {
  const keyOf = (url: string, key: string, more = ''): string => `${url}/v1/keys/${encodeURIComponent(key)}${more}`

  it.each(['a', 'user:42', 'a/b', 'ü ü', '%', '?x=1', 'block', 'a#b', 'x'.repeat(500)])('shows and forgets the key %s', async (key) => {
    const { url, post } = await local(policyOf(3))
    const check = async (): Promise<unknown> => (await post('/v1/check', { key, limit: 'user' })).json()
    for (let sent = 0; sent < 3; sent += 1) await check()
    expect(await check()).toMatchObject({ outcome: 'denied' })
    expect(await (await fetch(keyOf(url, key), { headers: ADMIN })).json()).toMatchObject({
      states: [{ name: 'user', source: 'header:x-user', limit: 3, remaining: 0 }],
    })
    expect((await fetch(keyOf(url, `${key}x`), { headers: ADMIN })).status).toBe(200)
    expect(await (await fetch(keyOf(url, key), { method: 'DELETE', headers: ADMIN })).json()).toEqual({ reset: true })
    expect(await check()).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 2 }] })
  })

  it('blocks a key for a while, and lifts the block', async () => {
    const { url, post } = await local(policyOf(3))
    const check = async (key: string): Promise<unknown> => (await post('/v1/check', { path: '/', headers: { 'x-user': key } })).json()
    const block = (body: string): Promise<Response> => fetch(keyOf(url, 'a', '/block'), { method: 'PUT', headers: ADMIN, body })
    expect(await (await block('{"duration":"10m"}')).json()).toEqual({ blocked: true })
    expect(await check('a')).toMatchObject({ outcome: 'denied', reason: 'blocked' })
    expect(await check('b')).toMatchObject({ outcome: 'allowed' })
    const { states } = (await (await fetch(keyOf(url, 'a'), { headers: ADMIN })).json()) as { states: { blockedForMs: number }[] }
    expect(states[0]?.blockedForMs).toBeGreaterThan(590_000)
    expect((await fetch(keyOf(url, 'a', '/block'), { method: 'DELETE', headers: ADMIN })).status).toBe(200)
    expect(await check('a')).toMatchObject({ outcome: 'allowed', limits: [{ remaining: 2 }] })
    expect((await block('{"duration":60000}')).status).toBe(200)
    expect(await check('a')).toMatchObject({ reason: 'blocked' })
  })

  it('refuses what no rule counts by', async () => {
    const { url } = await local(policyOf(3))
    const answer = await fetch(keyOf(url, 'a', '?limit=none'), { headers: ADMIN })
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining('none')])
    expect((await fetch(`${url}/v1/keys/%ff`, { headers: ADMIN })).status).toBe(400)
    expect((await fetch(keyOf(url, 'x'.repeat(5_000)), { headers: ADMIN })).status).toBe(400)
  })

  it.each([
    '{}',
    '[]',
    '"10m"',
    '{"duration":null}',
    '{"duration":"10m","x":1}',
    '{"duration":"ten"}',
    '{"duration":-1}',
    '{"duration":0}',
  ])('refuses to block for %s', async (body) => {
    const { url } = await local(policyOf(3))
    const answer = await fetch(keyOf(url, 'a', '/block'), { method: 'PUT', headers: ADMIN, body })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringMatching(/duration|expected/i)])
  })
})
