import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizePath, normalizePathExactly, normalizePattern, queryOf } from '../../src/identity/path.ts'
import { draws } from '../draws.ts'

describe('one path, many spellings', () => {
  it.each([
    '/login',
    '/login/',
    '//login',
    '///login//',
    '/%6Cogin',
    '/%6cogi%6E',
    '/./login',
    '/a/../login',
    '/a/%2e%2E/login',
    '/../../login',
    '/login?x=1',
    '/login/?x=/y',
    '/login#f',
    '/login?x#f',
    'http://x/login',
    'HTTPS://user@evil:8080//login/',
    '/login/.',
    '/\\login',
    '\\login',
    'login',
    '/login?a=http://x/y',
  ])('%s is /login', (target) => {
    expect(normalizePath(target)).toBe('/login')
  })

  it.each([
    ['', '/'],
    ['/', '/'],
    ['//', '/'],
    ['/..', '/'],
    ['http://x', '/'],
    ['http://x?y', '/'],
    ['*', '*'],
    ['//evil/a', '/evil/a'],
    ['/LOGIN', '/LOGIN'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%2Fb%5c', '/a%2Fb%5C'],
    ['/%256Cogin', '/%256Cogin'],
    ['/%%36C', '/%256C'],
    ['/%', '/%25'],
    ['/caf\u00e9 x', '/caf%C3%A9%20x'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    ['/\ud800', '/%EF%BF%BD'],
    ['/users/%40me/a%3Ab%2Bc', '/users/@me/a:b+c'],
    ['/%21%22%24%26%27%28%29%2C%3C%3D%3E%5B%5D%5E%60%7B%7C%7D', '/!"$&\'(),<=>[]^`{|}'],
    ['/%23%25%2F%3B%3F%5C%20%7F', '/%23%25%2F%3B%3F%5C%20%7F'],
    ['/a*b', '/a%2Ab'],
    ['/a//b/./c/../d/', '/a/b/d'],
    ['/a/...', '/a/...'],
  ])('%j is %s', (target, path) => {
    expect(normalizePath(target)).toBe(path)
  })

  it('is idempotent, starts with a slash and never holds what it removes', () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom('/', '//', '.', '..', '%', '%2e', '%2F', '%36', '%6c', 'http://', '?', '#', '\\', 'a', 'é', '\ud800', ':', '*'),
        fc.string(),
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(
        pieces.map((parts) => parts.join('')),
        (target) => {
          const path = normalizePath(target)
          expect(normalizePath(path)).toBe(path)
          if (path !== '*') expect(path).toMatch(/^\/(?!\/)[!-~]*$/)
          expect(path.split('/')).not.toContain('..')
        },
      ),
      { seed: 20_261_123, numRuns: draws(2_000, 500) },
    )
  })

  it('a pattern is normalised as a path, but for its wildcards', () => {
    expect(normalizePattern('//A/%40me/*/%2a/**/é/')).toBe('/A/@me/*/%2A/**/%C3%A9')
  })

  it('keeps the query apart', () => {
    expect(queryOf('/a?x=1&y=?')).toBe('x=1&y=?')
    expect(queryOf('/a?x=1#f?z')).toBe('x=1')
    expect(queryOf('/a#f?z')).toBe('')
    expect(queryOf('/a')).toBe('')
  })
})

describe('a path with the slash at its end', () => {
  it.each([
    ['/a', '/a'],
    ['/a/', '/a/'],
    ['/A//?q=/', '/A/'],
    ['/a?q/', '/a'],
    ['/a#/', '/a'],
    ['/a\\\\', '/a/'],
    ['/a/.', '/a/'],
    ['/a/%2E', '/a/'],
    ['/a/b/..', '/a/'],
    ['/a/b/.%2e', '/a/'],
    ['/a/...', '/a/...'],
    ['/a%2f', '/a%2F'],
    ['/a/..', '/'],
    ['//', '/'],
    ['http://x/', '/'],
    ['*', '*'],
  ])('%s is %s', (target, path) => {
    expect(normalizePathExactly(target)).toBe(path)
  })

  it('is the other one but for that slash', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom('/', '.', '..', '%2e', '\\\\', '?', 'a', 'B'), fc.string())), (pieces) => {
        const target = pieces.join('')
        const [exact, plain] = [normalizePathExactly(target), normalizePath(target)]
        expect([plain, plain === '/' ? '/' : `${plain}/`]).toContain(exact)
        expect(normalizePathExactly(exact)).toBe(exact)
      }),
      { seed: 11, numRuns: draws(500, 200) },
    )
  })
})
