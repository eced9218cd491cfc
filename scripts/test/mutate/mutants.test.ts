import { describe, expect, it } from 'vitest'
import { applied, keyOf, mutantsOf } from '../../src/mutate/mutants.ts'

/** What a line becomes, in the order of the source. */
const variants = (source: string): string[] => mutantsOf('a.ts', source).map((mutant) => applied(source, mutant))

describe('mutantsOf', () => {
  it.each([
    ['const a = b + c', ['const a = b - c']],
    ['const a = (b) * (c)', ['const a = (b) / (c)']],
    ['const a = b <= c', ['const a = b < c', 'const a = b > c']],
    ['const a = b !== c && d', ['const a = b === c && d', 'const a = b !== c || d']],
    ['const a = b ?? c', ['const a = b && c']],
    ['const a = -b', ['const a = b']],
    ['const a = !b', ['const a = b']],
    ['const a = 7', ['const a = 8']],
    ['const a = 1', ['const a = 0']],
    ['const a = 1_000n', ['const a = 1001n']],
    ['const a = true', ['const a = false']],
    ['const a = b ? c : d', ['const a = true ? c : d', 'const a = false ? c : d']],
    ['const a = Math.max(b, c)', ['const a = Math.min(b, c)']],
    ['const a = b >>> c', ['const a = b << c']],
    ['const a = () => b', ['const a = () => undefined']],
    ['a += b', [';', 'a -= b']],
    ['a++', [';', 'a--']],
    ['--a', [';', '++a']],
    ['f(a)', [';']],
    ['if (a) throw b', ['if (true) throw b', 'if (false) throw b', 'if (a) ;']],
    ['while (a) break', ['while (false) break', 'while (a) ;']],
    ['for (; a; ) continue', ['for (; false; ) continue', 'for (; a; ) ;']],
    ['function f() { return a }', ['function f() { return undefined }']],
    ['function f() { return false }', ['function f() { return true }']],
    ['const a = b as number + c', ['const a = b as number - c']],
    ['const a = b! / c', ['const a = b! * c']],
  ])('%s', (source, expected) => {
    expect(variants(source).sort()).toEqual([...expected].sort())
  })

  it.each([
    `import a from 'b'`,
    'type A = 1 | 2 | true',
    'interface A { b: 1 }',
    'let a: 1 | -1',
    'const a = `b` + c',
    `const a = 'b'`,
    'function f() { return }',
    'const f = (): void => {}',
    'function f() { return undefined }',
  ])('finds nothing to change in %s', (source) => {
    expect(variants(source)).toEqual([])
  })

  it('says where a mutant is, and knows it by its line when others come before it', () => {
    const source = 'f(\n  a < b,\n)\nconst c = 2 * 2\n'
    const [, less, , , first, second] = mutantsOf('a.ts', source)
    expect(less).toMatchObject({ line: 2, column: 5, code: 'a < b,', from: '<', to: '<=', nth: 1 })
    expect(first).toMatchObject({ line: 4, column: 13, to: '/' })
    expect(second).toMatchObject({ line: 4, column: 15, from: '2', to: '3', nth: 2 })
    const moved = mutantsOf('a.ts', `// a line more\n${source}`)
    expect(moved.map(keyOf)).toEqual(mutantsOf('a.ts', source).map(keyOf))
    expect(new Set(moved.map(keyOf)).size).toBe(moved.length)
  })

  it('refuses what is no program', () => {
    expect(() => mutantsOf('a.ts', 'const = 1')).toThrow(/^a\.ts: /)
  })
})
