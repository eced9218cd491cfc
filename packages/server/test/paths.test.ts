import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, serve } from './command.ts'
import { policyFiles } from './policy-file.ts'
import { statusOf } from './raw.ts'

const policyFile = policyFiles()
const ONCE = `
version: 1
rules:
  - { name: once, match: { path: /api/search }, key: [ip:address], rate: 1/h, burst: 1 }
`

describe('a limit that is used up', () => {
  let service: Running
  beforeAll(async () => {
    service = await serve([policyFile(ONCE), '--demo'])
    expect(await statusOf(service.url, 'GET', '/api/search')).toBe(200)
  })
  afterAll(() => service.stop())

  it.each([
    '/api/search',
    '/api/search/',
    '/API/search',
    '/api//search',
    '//api/search',
    '/api/%73earch',
    '/api/./search',
    '/api/x/../search',
    '/api/x/%2e%2e/search',
    '/../api/search',
    '/api\\search',
    '/api/search?x=1',
    '/api/search?',
    'http://x/api/search',
    'HTTP://X:80/api/search?x=/../y',
    '/api%2Fsearch',
    '/api%2fsearch%2F',
    '/api%5Csearch',
    '/api/search;x=1',
    '/api;a/search',
    '/free/..;/api/search',
    '/free/..%2fapi/search',
    '/%2561pi/search',
    '//host/api/search',
  ])('cannot be evaded by spelling it %s', async (target) => {
    expect(await statusOf(service.url, 'GET', target)).toBe(429)
  })

  it('cannot be evaded by what no reader of the path can be sure of', async () => {
    expect(await statusOf(service.url, 'GET', '/api/search#f')).toBe(400)
  })

  it.each(['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('cannot be evaded by %s', async (method) => {
    expect(await statusOf(service.url, method, '/api/search')).toBe(429)
  })

  it.each(['/api/search.', '/api%2Esearch', '*'])('is not that of %s, which the backend does not have either', async (target) => {
    expect(await statusOf(service.url, target === '*' ? 'OPTIONS' : 'GET', target)).toBe(404)
  })

  it.each([
    ['GET', '/livez', 200],
    ['GET', '//livez/', 200],
    ['HEAD', '/readyz', 200],
    ['HEAD', '/', 200],
    ['GET', 'http://x/metrics', 200],
    ['POST', '/livez', 405],
    ['GET', '/v1/../v1/check', 405],
  ])('leaves the own endpoint of %s %s alone: %i', async (method, target, status) => {
    expect(await statusOf(service.url, method, target)).toBe(status)
  })
})
