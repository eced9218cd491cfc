import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Local, local } from './in-process.ts'

const POLICY = `
version: 1
trustedProxies: [loopback]
rules:
  - { name: by-header, match: { path: /header }, key: ["header:x-api-key"], rate: 1/h, burst: 3 }
  - { name: by-query, match: { path: /query }, key: ["query:k"], rate: 1/h, burst: 3 }
  - { name: by-cookie, match: { path: /cookie }, key: ["cookie:sid"], rate: 1/h, burst: 3 }
  - { name: by-host, match: { path: /host, host: api.example }, key: [], rate: 1/h, burst: 3 }
  - { name: by-weight, match: { path: /weight }, key: [], rate: 1/h, burst: 30, cost: { from: header:x-weight, max: 30 } }
`

interface Sent {
  readonly path: string
  /** Each value is a line. */
  readonly lines?: Readonly<Record<string, readonly string[]>>
}

function overHttp(url: string, path: string, headers: Record<string, string | string[]>): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(`${url}${path}`, { method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

const spelt = (lines: Sent['lines'], value: (texts: readonly string[]) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(lines ?? {}).map(([name, texts]) => [name, value(texts)]))
const upper = (lines: Sent['lines']): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(lines ?? {}).flatMap(([name, texts]) =>
      texts.map((text, index) => [name.slice(0, index) + name.slice(index).toUpperCase(), text]),
    ),
  )
const requestBody =
  (headersOf: (lines: Sent['lines']) => Record<string, unknown>) =>
  async ({ post }: Local, { path, lines }: Sent): Promise<boolean> => {
    const answer = await post('/v1/check', { path, headers: headersOf(lines) })
    return ((await answer.json()) as { allowed: boolean }).allowed
  }
const forward =
  (endpoint: string, uri: string) =>
  async ({ url }: Local, { path, lines }: Sent): Promise<boolean> => {
    const headers = Object.fromEntries(
      Object.entries(lines ?? {}).map(([name, texts]) => [name === 'host' ? `${uri.slice(0, -3)}host` : name, [...texts]]),
    )
    return (await overHttp(url, endpoint, { ...headers, [uri]: path })) === 200
  }

/** Every way to call the service, and whether it allowed. */
const DOORS: readonly (readonly [string, (service: Local, sent: Sent) => Promise<boolean>])[] = [
  ['/v1/check, lists', requestBody((lines) => spelt(lines, (texts) => texts))],
  ['/v1/check, joined texts', requestBody((lines) => spelt(lines, (texts) => texts.join(', ')))],
  ['/v1/check, joined without a blank', requestBody((lines) => spelt(lines, (texts) => texts.join(',')))],
  ['/v1/check, one name in several spellings', requestBody(upper)],
  [
    '/v1/checks',
    async ({ post }, { path, lines }) => {
      const answer = await post('/v1/checks', [{ path, headers: lines ?? {} }])
      return ((await answer.json()) as { allowed: boolean }[])[0]?.allowed ?? false
    },
  ],
  ['/v1/decision', forward('/v1/decision', 'x-original-uri')],
  ['/v1/auth, X-Original', forward('/v1/auth', 'x-original-uri')],
  ['/v1/auth, X-Forwarded', forward('/v1/auth', 'x-forwarded-uri')],
]

describe.each(DOORS)('S8: what identifies and appears more than once is one shared value: %s', (_name, door) => {
  const passed = async (service: Local, sent: (index: number) => Sent): Promise<number> => {
    let allowed = 0
    for (let index = 0; index < 5; index += 1) if (await door(service, sent(index))) allowed += 1
    return allowed
  }

  it.each([
    ['after', (index: number) => ['real', `junk${index}`]],
    ['before', (index: number) => [`junk${index}`, 'real']],
    ['twice more', (index: number) => [`junk${index}`, 'real', `more${index}`]],
  ])('a header, with another line %s', async (_where, texts) => {
    const service = await local(POLICY)
    expect(await passed(service, (index) => ({ path: '/header', lines: { 'x-api-key': texts(index) } }))).toBe(3)
    expect(await door(service, { path: '/header', lines: { 'x-api-key': ['real'] } })).toBe(true)
  })

  it('a parameter of the query', async () => {
    const service = await local(POLICY)
    expect(await passed(service, (index) => ({ path: `/query?k=real&k=junk${index}` }))).toBe(3)
    expect(await door(service, { path: '/query?k=real' })).toBe(true)
  })

  it('a cookie', async () => {
    const service = await local(POLICY)
    expect(await passed(service, (index) => ({ path: '/cookie', lines: { cookie: [`sid=real; sid=junk${index}`] } }))).toBe(3)
    expect(await door(service, { path: '/cookie', lines: { cookie: ['a=b; sid=real'] } })).toBe(true)
  })

  it('of two hosts both count', async () => {
    const service = await local(POLICY)
    expect(await passed(service, (index) => ({ path: '/host', lines: { host: ['api.example', `junk${index}`] } }))).toBe(3)
  })

  it('U10: of a cost that appears twice the highest cost is charged', async () => {
    const service = await local(POLICY)
    const weigh = (...texts: string[]) => door(service, { path: '/weight', lines: { 'x-weight': texts } })
    expect([await weigh('10', '20'), await weigh('11'), await weigh('10')]).toEqual([true, false, true])
  })
})
