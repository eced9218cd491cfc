import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMBIGUOUS } from '../../src/identity/headers.ts'
import { readRequest, type RequestFacts } from '../../src/identity/request.ts'
import { firstOf, parseSource, type Source, valuesOf } from '../../src/identity/source.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'
import { composeKey, encodeKey } from '../../src/keys/encode.ts'
import { draws } from '../draws.ts'
import { anyText } from '../any-text.ts'

const facts: RequestFacts = {
  method: 'head',
  path: '/API//Items/?one=a%20b&q=a%20b&q=c&semi=1;hidden=2&flag&plus=1+1&bad=%zz',
  headers: {
    host: 'Example.COM.:8080',
    'x-api-key': 'k1',
    'x-many': ['a', 'b'],
    'x-list': 'a, b',
    cookie: 'sid=s1; theme="dark"; sid=s2; x=1, y=2',
    'x-empty': '',
  },
  ip: '::ffff:192.0.2.9',
}
const claims = { sub: 'user-1', level: 3, admin: true, nested: { a: 1 }, list: ['x'] }
const request = readRequest(facts, claims, trustProxies([]))
const read = (text: string): string | undefined => (parseSource(text) as Source).read(request)

describe('values of a request', () => {
  it.each([
    ['header:x-api-key', 'k1'],
    ['header:X-API-Key', 'k1'],
    ['header:x-many', AMBIGUOUS],
    ['header:x-list', AMBIGUOUS],
    ['header:x-empty', ''],
    ['header:x-none', undefined],
    ['header:__proto__', undefined],
    ['header:constructor', undefined],
    ['query:one', 'a b'],
    ['query:q', AMBIGUOUS],
    ['query:semi', AMBIGUOUS],
    ['query:hidden', '2'],
    ['query:flag', ''],
    ['query:plus', '1 1'],
    ['query:bad', '%zz'],
    ['query:none', undefined],
    ['cookie:sid', AMBIGUOUS],
    ['cookie:x', AMBIGUOUS],
    ['cookie:y', '2'],
    ['cookie:theme', 'dark'],
    ['cookie:none', undefined],
    ['jwt:sub', 'user-1'],
    ['jwt:level', '3'],
    ['jwt:admin', 'true'],
    ['jwt:nested', undefined],
    ['jwt:list', undefined],
    ['jwt:toString', undefined],
    ['ip:address', '192.0.2.9'],
    ['ip:/32', '192.0.2.9'],
    ['ip:/24', '192.0.2.0/24'],
    ['ip:/1', '128.0.0.0/1'],
    ['ip:/48', '192.0.2.9'],
    ['ip:/16/56', '192.0.0.0/16'],
    ['ua:bot', undefined],
    ['path:', '/api/items'],
    ['path:template', '/api/items'],
    ['method:', 'GET'],
    ['host:', 'example.com'],
    ['const:a:b', 'a:b'],
    ['const:', ''],
  ])('%s is %j', (text, value) => {
    expect(read(text)).toBe(value)
  })

  it.each([
    '',
    'header',
    'header:',
    'header:a b',
    'ip:country',
    'ip:',
    'ip:/0',
    'ip:/129',
    'ip:/024',
    'ip:/33/64',
    'ip:/24/129',
    'ip:/24/',
    'ip:24',
    'path:/a',
    'method:x',
    'ua:',
    'ua:bot_category',
    'toString:',
    '__proto__:x',
    'Header:x',
  ])('%j is no source', (text) => {
    expect(parseSource(text)).toBeUndefined()
  })

  it.each([
    ['ip:address', '2001:db8:1:2::/64'],
    ['ip:/24', '2001:db8:1:2::/64'],
    ['ip:/48', '2001:db8:1::/48'],
    ['ip:/128', '2001:db8:1:2::9'],
    ['ip:/24/56', '2001:db8:1::/56'],
  ])('%s of an IPv6 address is %s', (text, value) => {
    const six = readRequest({ ...facts, ip: '2001:db8:1:2::9' }, claims, trustProxies([]))
    expect((parseSource(text) as Source).read(six)).toBe(value)
    const { ip: _, ...unknown } = facts
    expect((parseSource(text) as Source).read(readRequest(unknown, claims, trustProxies([])))).toBeUndefined()
  })

  it('says of each source whether its values identify the caller', () => {
    const neutral = (text: string): boolean => parseSource(text)?.neutral === true
    expect(['path:', 'path:template', 'method:', 'host:', 'const:a', 'ua:bot'].every(neutral)).toBe(true)
    expect(['header:a', 'query:a', 'cookie:a', 'jwt:a', 'ip:address', 'ip:/24'].some(neutral)).toBe(false)
  })

  it('gives every value of what may be repeated', () => {
    expect(valuesOf('query', 'q', request)).toEqual(['a b', 'c'])
    expect(valuesOf('header', 'x-many', request)).toEqual(['a', 'b'])
    expect(valuesOf('header', 'x-none', request)).toEqual([])
  })

  it('takes the first of several that has a value', () => {
    const either = firstOf(['header:x-none', 'header:x-empty', 'jwt:sub'].map((text) => parseSource(text) as Source))
    expect(either.read(request)).toBe('')
  })

  it('knows no address where a request has no address, and refuses facts that are not such', () => {
    const { ip: _, ...rest } = facts
    expect(readRequest(rest, undefined, trustProxies([]))).toMatchObject({ address: undefined, network: undefined, trustedPeer: false })
    expect(() => readRequest({ method: 'GET' } as unknown as RequestFacts, undefined, trustProxies([]))).toThrow(
      'facts: path is undefined, expected a text',
    )
  })
})

describe('keys of several values', () => {
  it('are injective, absent values included', () => {
    const part = fc.option(
      fc.oneof(fc.constantFrom('', '-', '=', ':', 'a:b', '%', '%003a', '\ud800', '\ud801', '\0', '{x}', '__proto__'), anyText()),
      { nil: undefined },
    )
    const parts = fc.array(part, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = a.length === b.length && a.every((value, index) => value === b[index])
        expect(encodeKey(composeKey(a)) === encodeKey(composeKey(b))).toBe(same)
        expect(encodeKey(composeKey(a))).toMatch(/^[\w.@+=,;~!/:%#-]{1,200}$/)
      }),
      { seed: 20_261_124, numRuns: draws(2_000, 500) },
    )
  })
})
