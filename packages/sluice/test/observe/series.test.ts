import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeries } from '../../src/observe/series.ts'

function contents(series: ReturnType<typeof createSeries<{ value: number }>>): Record<string, number> {
  const found: Record<string, number> = {}
  series.each((labels, { value }) => (found[labels] = value))
  return found
}
const create = (labels: readonly string[]) => createSeries(labels, () => ({ value: 0 }))

describe('series', () => {
  it('count as a map of all label values would', () => {
    const value = fc.constantFrom('', 'a', 'b', '"', '\\', '\n', '__proto__', 'constructor', 'a",y="b')
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value, value), { maxLength: 200 }), (additions) => {
        const series = create(['x', 'y', 'z'])
        const expected = new Map<string, number>()
        for (const values of additions) {
          series.at(...values).value += 1
          const name = JSON.stringify(values)
          expected.set(name, (expected.get(name) ?? 0) + 1)
        }
        const ascending = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b)
        expect(ascending(Object.values(contents(series)))).toEqual(ascending(expected.values()))
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  it('escape what would end a value', () => {
    const series = create(['x', 'y'])
    series.at('a"\n', '\\').value = 1
    expect(contents(series)).toEqual({ 'x="a\\"\\n",y="\\\\"': 1 })
  })

  it('are a thousand at most, whichever label grows, and the rest is counted together', () => {
    for (const grow of [(n: number) => [`${n}`, 'b'], (n: number) => ['a', `${n}`]]) {
      const series = create(['x', 'y'])
      for (let n = 0; n < 5_000; n += 1) series.at(...grow(n)).value += 1
      const found = contents(series)
      expect(Object.keys(found)).toHaveLength(1_001)
      expect(found['x="other",y="other"']).toBe(4_000)
      series.at(...grow(0)).value += 1
      expect(found).not.toEqual(contents(series))
    }
  })

  it('cut values that are too long', () => {
    const series = create(['x'])
    series.at('v'.repeat(10_000)).value += 1
    series.at('v'.repeat(20_000)).value += 1
    expect(contents(series)).toEqual({ [`x="${'v'.repeat(256)}..."`]: 2 })
  })
})
