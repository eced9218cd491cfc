import { describe, expect, it } from 'vitest'
import { orderedFunctions } from '../src/sql-functions.ts'

const text = (name: string, body: string): [string, string] => [name, `create function sluice_${name}(a int) returns int as $$ ${body} $$;`]
const made = (...texts: readonly [string, string][]) => orderedFunctions(new Map(texts))
const hashes = (...texts: readonly [string, string][]) => new Map(made(...texts).map(({ name, hash }) => [name, hash]))

describe('functions of SQL', () => {
  it('come after those that they call', () => {
    const order = made(text('a', 'sluice_c(1) + sluice_b(2)'), text('b', 'sluice_c(3)'), text('c', '1')).map(({ name }) => name)
    expect(order).toEqual(['c', 'b', 'a'])
  })

  it('have another hash where their own text, or that of one they come to, is another', () => {
    const rest = [text('a', 'sluice_b(1)'), text('b', 'sluice_c(1)'), text('d', 'sluice_state')] as const
    const [before, after] = [hashes(...rest, text('c', '1')), hashes(...rest, text('c', '2'))]
    const changed = [...before.keys()].filter((name) => before.get(name) !== after.get(name)).sort()
    expect(changed).toEqual(['a', 'b', 'c'])
    expect([...before.values()].every((hash) => /^[0-9a-f]{8}$/.test(hash))).toBe(true)
  })

  it('are refused in a circle, naming it', () => {
    expect(() => made(text('a', 'sluice_b(1)'), text('b', 'sluice_a(1)'))).toThrow('functions call one another in a circle: a, b, a')
  })

  it('are refused in a file of another name', () => {
    expect(() => made(['a', text('b', '1')[1]])).toThrow('a.sql does not begin with create function sluice_a(')
  })
})
