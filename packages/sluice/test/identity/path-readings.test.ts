import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AMBIGUOUS } from '../../src/identity/headers.ts'
import { everyReading, finalPath, readPath, someReading } from '../../src/identity/path-readings.ts'
import { normalizePath, normalizePathExactly } from '../../src/identity/path.ts'
import { compileGlob, pathSegments } from '../../src/policy/model/glob.ts'
import { UPSTREAMS } from './upstreams.ts'
import { draws } from '../draws.ts'

const readings = (target: string): readonly string[] => {
  const { path, readings: several } = readPath(target)
  return several === undefined ? [path] : several.map((one) => one.path).sort()
}

describe('S9: every reading of a path', () => {
  it.each([
    ['/api/x', ['/api/x']],
    ['/API//./x/', ['/api/x']],
    ['/caf%c3%a9/%41', ['/caf%c3%a9/a']],
    ['/100%25', ['/100%25']],
    ['/%40me/a%3ab', ['/@me/a:b']],
    ['/a*', ['/a%2a']],
    ['/api%2Fx', ['/api%2fx', '/api/x']],
    ['/api%5cx', ['/api%5cx', '/api/x']],
    ['/api\\x', ['/api%5cx', '/api/x']],
    ['/api;a/x', ['/api/x', '/api;a/x']],
    ['/api%3Ba/x', ['/api%3ba/x', '/api/x', '/api;a/x']],
    ['/%2561pi/x', ['/%2561pi/x', '/api/x']],
    ['/a/../api/x', ['/a/../api/x', '/api/x']],
    ['/free/..;/api/x', ['/api/x', '/free/../api/x', '/free/..;/api/x']],
    ['/free/..%2fapi/x', ['/api/x', '/free/..%2fapi/x', '/free/../api/x']],
    ['/free//../api/x', ['/api/x', '/free/../api/x', '/free/api/x']],
    ['//host/api', ['/api', '/host/api']],
    ['///host/api', ['/api', '/host/api']],
    ['/\\host/api', ['/%5chost/api', '/api', '/host/api']],
    ['http://h/a;b', ['/a', '/a;b']],
    ['/a?x=%2F;y', ['/a']],
    ['*', ['*']],
    ['', ['/']],
  ])('%s: %j', (target, expected) => {
    expect(readings(target)).toEqual(expected)
  })

  it.each([
    ['/api%2Fx', '/api/x'],
    ['/api;a/x', '/api/x'],
    ['/free/..;/api/x', '/api/x'],
    ['/free/..%2fapi/x', '/api/x'],
    ['/%2561pi/x', '/api/x'],
    ['/api\\x', '/api/x'],
    ['/%25252561pi/x', '/api/x'],
    ['/api/j;%2f..%2fx', AMBIGUOUS],
    ['//host/api/x', AMBIGUOUS],
  ])('%s is %s in the end', (target, path) => {
    expect(readPath(target).path).toBe(path)
  })

  it('the end that counts is that of the readings which are used', () => {
    const read = readPath('//api/x')
    expect(finalPath(read, ({ path }) => path.startsWith('/api'))).toBe('/api/x')
    expect(finalPath(read, () => true)).toBe(AMBIGUOUS)
    expect(finalPath(read, () => false)).toBe(AMBIGUOUS)
  })

  it.each([
    ['many kinds and orders', `//a/${'..;/%2f%5c%3b%2541//../%255c..%252f'.repeat(8)}x`],
    ['encoded again and again', `/${'%25'.repeat(100)}`.replaceAll('%25', '%2525') + '2525'.repeat(200)],
    ['too long', `/a;${'x'.repeat(40_000)}`],
    ['with a #', '/a#/b'],
  ])('what cannot be read may be every path: %s', (_name, target) => {
    const read = readPath(target)
    expect(read).toMatchObject({ path: AMBIGUOUS, exactPath: AMBIGUOUS, unreadable: { path: true } })
    expect(someReading(read, () => false)).toBe(true)
    expect(everyReading(read, () => true)).toBe(false)
  })

  it.each([
    ['a URL', `/r/${encodeURIComponent('https://a.example/b/c?next=https%3A%2F%2Fb.example%2Fx%3By&d=1')}`],
    [
      'a URL, encoded twice',
      `/r/${encodeURIComponent(encodeURIComponent('https://a.example/b;v=1/c?next=https%3A%2F%2Fb.example%2Fx%3By'))}`,
    ],
    ['the path of a file', `/files/${encodeURIComponent('C:\\a\\..\\100%;50%/b;c')}/..;/d`],
    ['a long path', `/a%2F${'x'.repeat(16_000)}`],
  ])('what people write in a path is read: %s', (_name, target) => {
    expect(readPath(target).unreadable).toBeUndefined()
  })

  it('no target below 512 characters is refused for its length', () => {
    const read = readPath(`/r/${'x'.repeat(430)}/..;%2f%5c%3b%25`)
    expect([read.unreadable, (read.readings?.length ?? 1) > 10]).toEqual([undefined, true])
  })

  it('reading the worst is bounded work', () => {
    const worst = [
      `//a/${'..;/%2f%5c%3b%2541//../'.repeat(700)}`,
      `/${'%2525;'.repeat(2_700)}`,
      `/${'../'.repeat(5_000)}`,
      `/${'/'.repeat(16_000)}`,
    ]
    const before = process.cpuUsage().user
    for (let round = 0; round < 20; round += 1) for (const target of worst) readPath(target)
    const each = (process.cpuUsage().user - before) / (20 * worst.length)
    // In microseconds of CPU time for one target. An algorithm whose time grows with the square of the length would take seconds.
    expect(each).toBeLessThan(20_000)
  })
})

const PIECES = [
  '/',
  '//',
  'api',
  'x',
  'free',
  'a',
  'API',
  '.',
  '..',
  '%2e',
  '%2F',
  '%2f',
  '%5C',
  '\\',
  ';',
  ';p=1',
  '..;',
  '%3B',
  '%252F',
  '%252e%252e',
  '%2561',
  '%61',
  '%25',
  '%',
  'é',
  '@',
  '%40',
  '%3A',
  '%7b',
]
const TARGETS = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 9 }).map((parts) => `/${parts.join('')}`)
const PATTERNS = ['/api/**', '/api/x', '/free/**', '/*/x', '/x', '/**/x'].map((text) => compileGlob(text, pathSegments(text)))
const matches = (pattern: (typeof PATTERNS)[number], path: string): boolean => pattern?.matches(pathSegments(path)) === true
const API = PATTERNS[0]
const FREE = PATTERNS[2]

describe('S9: servers of the field, alone and in a row', () => {
  it('read no path that is not among the readings: no spelling escapes a rule, gets a key of its own, or an exemption', () => {
    fc.assert(
      fc.property(TARGETS, (target) => {
        const read = readPath(target)
        const exempt = everyReading(read, ({ path }) => matches(FREE, path))
        const keys = [API, undefined].map((rule) => ({
          rule,
          key: finalPath(read, ({ path }) => rule === undefined || matches(rule, path)),
        }))
        for (const [name, upstream] of Object.entries(UPSTREAMS)) {
          const seen = normalizePath(upstream(target)).toLowerCase()
          for (const pattern of PATTERNS)
            if (matches(pattern, seen))
              expect([name, pattern?.text, someReading(read, ({ path }) => matches(pattern, path))]).toEqual([name, pattern?.text, true])
          if (exempt) expect([name, matches(FREE, seen)]).toEqual([name, true])
          // If an upstream leaves a part of the path encoded, that path is another resource there, so its key is not compared.
          if (/[%;]|\.\./.test(seen)) continue
          for (const { rule, key } of keys)
            if (rule === undefined || matches(rule, seen))
              expect([`${name}: ${seen}`, `${name}: ${AMBIGUOUS}`]).toContain(`${name}: ${key}`)
        }
      }),
      { seed: 20_261_121, numRuns: draws(2_000, 250) },
    )
  })

  it('what an upstream reads as one plain path has one key or the shared one, however it is spelt', () => {
    const keys = new Map<string, Set<string>>()
    fc.assert(
      fc.property(TARGETS, (target) => {
        for (const [name, upstream] of Object.entries(UPSTREAMS)) {
          const seen = normalizePath(upstream(target)).toLowerCase()
          if (!/[%;]|\.\./.test(seen)) keys.set(`${name} ${seen}`, (keys.get(`${name} ${seen}`) ?? new Set()).add(readPath(target).path))
        }
      }),
      { seed: 4, numRuns: draws(1_000, 125) },
    )
    for (const [name, found] of keys) expect([name, found.size <= (found.has(AMBIGUOUS) ? 2 : 1)]).toEqual([name, true])
  })
})

describe('a path with one reading', () => {
  it('is what it was: normalised, in lower case, and exactly', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom('/', '.', '%41', 'a', 'B', '?', '#', ':', '~', 'é'), fc.string())), (parts) => {
        const target = parts.join('')
        const read = readPath(target)
        if (read.readings !== undefined || read.unreadable?.path === true) return
        expect(read).toMatchObject({ path: normalizePath(target).toLowerCase(), exactPath: normalizePathExactly(target) })
      }),
      { seed: 7, numRuns: draws(3_000, 375) },
    )
  })
})
