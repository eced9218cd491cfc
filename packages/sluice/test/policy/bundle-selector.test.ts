import { describe, expect, it } from 'vitest'
import { readRequest, type Request, type RequestFacts } from '../../src/identity/request.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { indexRules } from '../../src/policy/model/match.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { parsePolicy } from '../../src/policy/parse.ts'
import type { Policy } from '../../src/policy/model/policy.ts'
import { PolicyError } from '../../src/policy/document/policy-error.ts'

const request = (path: string, more: Partial<RequestFacts> = {}): Request =>
  readRequest({ method: 'GET', path, headers: {}, ip: '192.0.2.1', ...more }, undefined, trustProxies([]))
const rule = (name: string): object => ({ name, limit_keys: [], algorithm: 'token_bucket', algorithm_config: { rps: 1, burst: 1 } })
const policyOf = (selectors: readonly object[], strict = false): Policy => {
  const policies = selectors.map((selector, index) => ({ id: `p${index}`, spec: { selector, rules: [rule('r')] } }))
  return parsePolicy(JSON.stringify({ bundle_version: 1, policies }), { format: 'json', strict })
}
const matches = (selector: object, requested: Request): boolean => finish(indexRules(policyOf([selector]).rules))(requested).length === 1
const refusal = (selector: object, strict = false): string => {
  try {
    policyOf([selector], strict)
  } catch (error) {
    if (error instanceof PolicyError) return error.message
    throw error
  }
  return 'the policy was accepted'
}

describe('a selector compares paths by segments', () => {
  it.each([
    ['pathPrefix', '/v1/', '/v1', false],
    ['pathPrefix', '/v1', '/v1', false],
    ['pathPrefix', '/v1', '/v1/', false],
    ['pathPrefix', '/v1', '/v1x', false],
    ['pathPrefix', '/v1', '/v1/x', true],
    ['pathPrefix', '/v1', '/v1/x/y/', true],
    ['pathPrefix', '/v1/', '/v1/x', true],
    ['pathPrefix', '/', '/', true],
    ['pathPrefix', '/', '/anything/at/all', true],
    ['pathPrefix', '/v1/', '/V1/x', false],
    ['pathPrefix', '/V1', '/V1/x', true],
    ['pathPrefix', '/v1/', '//v1///x', true],
    ['pathPrefix', '//v1//', '/v1/x', true],
    ['pathExact', '/v1', '/v1', true],
    ['pathExact', '/v1', '/v1/', false],
    ['pathExact', '/v1/', '/v1', false],
    ['pathExact', '/v1/', '/v1/', true],
    ['pathExact', '/v1', '/v1/x', false],
    ['pathExact', '/v1', '/V1', false],
    ['pathExact', '/', '/', true],
    ['pathExact', '/', '/x', false],
    ['pathExact', '/a*b', '/a*b', true],
    ['pathExact', '/*', '/*', true],
    ['pathExact', '/*', '/x', false],
    ['pathPrefix', '/*', '/x/y', false],
  ])('%s %s and %s: %s', (anchor, path, target, expected) => {
    expect(matches({ [anchor]: path }, request(target))).toBe(expected)
  })

  it.each([
    ['pathExact', '/v1', '/v1?a=1'],
    ['pathExact', '/v1', '/v1?'],
    ['pathExact', '/v1', '/x/../v1'],
    ['pathExact', '/v1', '/./v1'],
    ['pathExact', '/v1', '/%761'],
    ['pathExact', '/v1', '\\v1'],
    ['pathExact', '/v1', 'http://elsewhere/v1'],
    ['pathExact', '/v1/', '/v1/x/..'],
    ['pathExact', '/v1/', '/v1/%2e?q'],
    ['pathPrefix', '/v1', '/v1/x?y=/z'],
    ['pathPrefix', '/v1', '/v2/../v1/x'],
  ])('%s %s is not evaded by %s', (anchor, path, target) => {
    expect(matches({ [anchor]: path }, request(target))).toBe(true)
  })

  it('matches where either of two anchors does', () => {
    const both = { pathExact: '/health', pathPrefix: '/v1' }
    expect(['/health', '/v1/x', '/v1', '/health/'].map((path) => matches(both, request(path)))).toEqual([true, true, false, false])
  })

  it('says which path was wanted', () => {
    const { rules } = policyOf([{ pathPrefix: '/v1' }, { pathExact: '/a' }])
    expect(rules.map(({ match: { path, when } }) => [path?.text, when[0]?.source.text, when[0]?.value])).toEqual([
      ['/v1/*/**', 'path', 'below /v1/'],
      ['/a', 'path', 'exactly /a'],
    ])
  })

  it('loads and never matches without a path that begins with a slash, and warns', () => {
    const warnings = [
      'policy.json:1:76: policies[0].spec.selector.pathExact does not begin with / and is ignored: expected a path such as /v1',
      'policy.json:1:63: policies[0].spec.selector has no path: its rules never match; a pathPrefix of / matches every path',
    ]
    expect(policyOf([{ pathExact: 'v1' }])).toMatchObject({ warnings, rules: [{ name: 'p0/r' }] })
    expect(matches({ pathExact: 'v1' }, request('/v1'))).toBe(false)
    expect(matches({}, request('/v1'))).toBe(false)
    expect(matches({ pathExact: 'v1', pathPrefix: '/v1' }, request('/v1/x'))).toBe(true)
    expect(refusal({ pathExact: 'v1' }, true)).toContain('pathExact does not begin with /')
    expect(refusal({ pathExact: '/v1?a=1' })).toContain('pathExact is "/v1?a=1": expected a path such as /v1, without query and fragment')
  })
})

describe('a selector by method', () => {
  it.each([
    [undefined, 'DELETE', true],
    [['GET'], 'GET', true],
    [['GET'], 'POST', false],
    [['POST', 'PUT'], 'PUT', true],
    [[], 'GET', false],
    [['get'], 'GET', false],
    [['GET'], 'HEAD', true],
    [['HEAD'], 'GET', false],
  ])('%j and %s: %s', (methods, method, expected) => {
    expect(matches({ pathPrefix: '/', ...(methods === undefined ? {} : { methods }) }, request('/x', { method }))).toBe(expected)
  })

  it('that never matches is warned of', () => {
    expect(policyOf([{ pathPrefix: '/', methods: [] }]).warnings).toEqual([
      expect.stringContaining('policies[0].spec.selector.methods is empty: its rules never match'),
    ])
    expect(policyOf([{ pathPrefix: '/', methods: ['get'] }]).warnings).toEqual([
      expect.stringContaining('methods[0] get never matches: methods are upper case'),
    ])
    expect(refusal({ pathPrefix: '/', methods: 'GET' })).toContain('methods is "GET": expected a list')
    expect(refusal({ pathPrefix: '/', methods: [1] })).toContain('methods[0] is 1: expected a method')
  })
})

describe('a selector by host', () => {
  it.each([
    ['api.example.com', 'api.example.com', true],
    [' API.Example.com. ', 'api.example.COM:8443', true],
    ['api.example.com:443', 'api.example.com.', true],
    ['api.example.com', 'www.example.com', false],
    ['api.example.com', undefined, false],
  ])('%j and %s: %s', (host, requested, expected) => {
    expect(matches({ pathPrefix: '/', hosts: [host] }, request('/x', { headers: { host: requested } }))).toBe(expected)
  })

  it.each(['https://a.example', 'a.example/x', '*.example', 'a..example', 'a?b', 'a#b', 'u@a.example', '', 'a b', `${'a.'.repeat(40)}a`])(
    'refuses %j',
    (host) => {
      expect(refusal({ pathPrefix: '/', hosts: ['ok.example', host] })).toContain('hosts[1] is')
    },
  )

  it.each([[[]], ['a.example'], [null]])('refuses %j in place of a list', (hosts) => {
    expect(refusal({ pathPrefix: '/', hosts })).toContain('expected a non-empty array of hostnames')
  })

  it('applies together with one for every host', () => {
    const { rules } = policyOf([{ pathPrefix: '/', hosts: ['a.example'] }, { pathPrefix: '/' }])
    const names = (host: string): string[] => finish(indexRules(rules))(request('/x', { headers: { host } })).map(({ name }) => name)
    expect([names('a.example'), names('b.example')]).toEqual([['p0/r', 'p1/r'], ['p1/r']])
  })
})

it('a thousand policies are found by the first segment of their path', () => {
  const { rules } = policyOf(Array.from({ length: 1_000 }, (_, index) => ({ pathPrefix: `/v${index}` })))
  expect(new Set(rules.map(({ match }) => match.path?.text)).size).toBe(1_000)
  expect(finish(indexRules(rules))(request('/v500/x')).map(({ name }) => name)).toEqual(['p500/r'])
})
