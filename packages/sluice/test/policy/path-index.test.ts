import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob, type Glob, pathSegments } from '../../src/policy/model/glob.ts'
import { indexByPath } from '../../src/policy/model/path-index.ts'
import { finish } from '../../src/policy/model/sliced.ts'
import { draws } from '../draws.ts'

const glob = (text: string): Glob => compileGlob(text, pathSegments(text)) as Glob

describe('the index of patterns', () => {
  const patterns = ['/a', '/**', undefined, '/a/*', '/a/**/c', '/*/b', '/a/b/c', '/**/c/**', '/']
  const find = finish(indexByPath(patterns, (text) => (text === undefined ? undefined : glob(text))))

  it.each([
    ['/', ['/**', undefined, '/']],
    ['/a', ['/a', '/**', undefined]],
    ['/a/b', ['/**', undefined, '/a/*', '/*/b']],
    ['/a/c', ['/**', undefined, '/a/*', '/a/**/c', '/**/c/**']],
    ['/a/b/c', ['/**', undefined, '/a/**/c', '/a/b/c', '/**/c/**']],
    ['/x/y/c/z', ['/**', undefined, '/**/c/**']],
    ['/constructor/__proto__', ['/**', undefined]],
  ])('finds for %s %j, in their order', (path, found) => {
    expect(find(pathSegments(path))).toEqual(found)
  })

  it('finds what each pattern alone matches, whatever the patterns are', () => {
    const segment = fc.constantFrom('a', 'b', 'c')
    const pattern = fc.array(fc.oneof(segment, fc.constantFrom('*', '**')), { maxLength: 6 })
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 12 }), fc.array(segment, { maxLength: 7 }), (all, path) => {
        const globs = all.map((segments) => compileGlob(segments.join('/'), segments) as Glob)
        const indexed = finish(indexByPath(globs, (one) => one))
        expect(indexed(path)).toEqual(globs.filter((one) => one.matches(path)))
        expect(indexed(path)).toEqual(indexed(path))
      }),
      { seed: 20_261_122, numRuns: draws(3_000, 375) },
    )
  })
})
