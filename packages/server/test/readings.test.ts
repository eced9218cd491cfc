import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { run } from './command.ts'
import { type Local, local } from './in-process.ts'
import { policyFiles } from './policy-file.ts'

const policyFile = policyFiles()
const POLICY = `
version: 1
trustedProxies: [loopback]
exempt: [{ path: /free/** }]
rules: [{ name: api, match: { path: /api/** }, key: ["path:"], rate: 1/h, burst: 1 }]
`

function status(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end()
  })
}

const DOORS: readonly (readonly [string, (service: Local, path: string) => Promise<boolean>])[] = [
  ['/v1/check', async ({ post }, path) => ((await (await post('/v1/check', { path })).json()) as { readonly allowed: boolean }).allowed],
  ['/v1/auth', async ({ url }, path) => (await status(`${url}/v1/auth`, { 'x-forwarded-uri': path })) === 200],
  ['/v1/decision', async ({ url }, path) => (await status(`${url}/v1/decision`, { 'x-original-uri': path })) === 200],
  ['/v1/decision with the path behind it', async ({ url }, path) => (await status(`${url}/v1/decision${path}`, {})) === 200],
]

describe.each(DOORS)('S9: a path is matched in every reading: %s', (_name, door) => {
  it.each(['/api%2Fx', '/api;a/x', '/free/..;/api/x', '/free/..%2fapi/x', '/%2561pi/x', '/api\\x'])('%s', async (path) => {
    const service = await local(POLICY)
    expect(await door(service, '/api/x')).toBe(true)
    expect(await door(service, path)).toBe(false)
    expect(await door(service, '/api/y')).toBe(true)
  })
})

describe('U11: what a move from Fairvisor meets', () => {
  const BUNDLE = {
    rules: [
      {
        name: 'by-query',
        limit_keys: ['query:k'],
        algorithm: 'token_bucket',
        algorithm_config: { rps: 0.0166667, burst: 1, default_cost: 1 },
      },
      { name: 'programs', limit_keys: ['ua:bot'], algorithm_config: { rps: 1, burst: 99 } },
    ],
  }

  it('the query of the decision call counts only where X-Original-URI is not there', async () => {
    const { url } = await local(JSON.stringify({ rules: [{ ...BUNDLE.rules[0], algorithm_config: { rps: 0.001, burst: 1 } }] }))
    const statusOf = (query: string, uri?: string) =>
      status(`${url}/v1/decision${query}`, uri === undefined ? {} : { 'x-original-uri': uri })
    expect([
      await statusOf('?k=1'),
      await statusOf('?k=1'),
      await statusOf('?k=1', '/x?k=2'),
      await statusOf('?k=3', '/x?k=2'),
      await statusOf('?k=4', '/x?k=1'),
    ]).toEqual([200, 429, 200, 429, 429])
  })

  it('is printed by sluice check, which accepts the policy', async () => {
    const { code, stdout, stderr } = await run(['check', policyFile(JSON.stringify(BUNDLE))])
    const said = stdout + stderr
    expect(code).toBe(0)
    for (const text of [
      'query:k is read from X-Original-URI',
      'default_cost is not charged without cost_source',
      "ua:bot knows other programs by name than Fairvisor's list",
      'rules[1].algorithm is missing and is read as token_bucket',
    ])
      expect(said).toContain(text)
  })
})
