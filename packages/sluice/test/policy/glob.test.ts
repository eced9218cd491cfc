import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob, pathSegments } from '../../src/policy/model/glob.ts'
import { draws } from '../draws.ts'

/** The meaning of a pattern, written down without regard to speed. */
function reference(pattern: readonly string[], values: readonly string[]): boolean {
  const [head, ...rest] = pattern
  if (head === undefined) return values.length === 0
  if (head === '**') return reference(rest, values) || (values.length > 0 && reference(pattern, values.slice(1)))
  return values.length > 0 && (head === '*' || head === values[0]) && reference(rest, values.slice(1))
}

const matches = (pattern: string, path: string): boolean | undefined =>
  compileGlob(pattern, pathSegments(pattern))?.matches(pathSegments(path))

describe('globs', () => {
  it.each([
    ['/', '/', true],
    ['/', '/a', false],
    ['/a', '/', false],
    ['/*', '/', false],
    ['/*', '/a', true],
    ['/**', '/', true],
    ['/**', '/a/b/c', true],
    ['/a/**', '/a', true],
    ['/a/**', '/ab', false],
    ['/a/**/z', '/a/z', true],
    ['/a/**/z', '/a/b/c/z', true],
    ['/a/**/z', '/a/z/b', false],
    ['/**/x/*/y', '/x/1/x/2/y', true],
    ['/*/*', '/a', false],
    ['/**/**/a', '/a', true],
    ['/**/a/**', '/b/a', true],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it('agree with their meaning', () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', '*', '**'), { maxLength: 7 })
    const values = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 9 })
    fc.assert(
      fc.property(pattern, values, (segments, path) => {
        expect(compileGlob('', segments)?.matches(path)).toBe(reference(segments, path))
      }),
      { seed: 20_261_125, numRuns: draws(5_000, 600) },
    )
  })

  it('at the bound of segments still agree, and beyond it are refused', () => {
    const long = (segments: number): string[] => Array.from({ length: segments }, (_, index) => (index % 3 === 0 ? '**' : 'a'))
    const values = Array.from({ length: 24 }, () => 'a')
    expect(compileGlob('', long(30))?.matches(values)).toBe(reference(long(30), values))
    expect(compileGlob('', [...Array.from({ length: 29 }, () => '*'), 'z'])?.matches([...Array.from({ length: 29 }, () => 'q'), 'z'])).toBe(
      true,
    )
    expect(compileGlob('', long(31))).toBeUndefined()
    expect(compileGlob('', ['a*'])).toBeUndefined()
  })

  it('take one step per segment', () => {
    const glob = compileGlob(
      '',
      Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? '**' : 'a')),
    )
    const path = Array.from({ length: 1_000_000 }, () => 'a')
    path.push('b')
    expect(glob?.matches(path)).toBe(false)
  })
})
