import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Table } from '../../../src/stores/memory/table.ts'

/** A table whose rows have one number, which is their expiry, and a map with the same content to compare with. */
function both() {
  const released: number[] = []
  const table = new Table(1, {
    expiresAt: (_planId, cells, at) => cells[at] as number,
    release: (_planId, cells, at) => void released.push(cells[at] as number),
  })
  const map = new Map<string, number>()
  const name = (lo: number, hi: number): string => `${lo}:${hi}`
  return {
    table,
    map,
    released,
    put(lo: number, hi: number, expiresAt: number, now: number) {
      const row = table.find(lo, hi)
      if (row === -1) {
        const made = table.add(lo, hi, 1, now, expiresAt)
        table.segment.cells[made] = expiresAt
        for (const [key, end] of map) if (end <= now && !has(key)) map.delete(key)
      } else {
        table.segment.cells[row] = expiresAt
        table.touched(expiresAt)
      }
      map.set(name(lo, hi), expiresAt)
    },
    remove(lo: number, hi: number) {
      const row = table.find(lo, hi)
      expect(row !== -1).toBe(map.has(name(lo, hi)))
      if (row !== -1) table.remove(row)
      map.delete(name(lo, hi))
    },
    sweep(now: number) {
      for (let piece = 0; piece < table.pieces; piece += 1) table.sweepNext(now)
      for (const [key, end] of map) if (end <= now) map.delete(key)
    },
    check() {
      expect(table.size).toBe(map.size)
      for (const [key, end] of map) {
        const [lo, hi] = key.split(':').map(Number) as [number, number]
        const row = table.find(lo, hi)
        expect(row).toBeGreaterThanOrEqual(0)
        expect(table.segment.cells[row]).toBe(end)
      }
    },
  }
  function has(key: string): boolean {
    const [lo, hi] = key.split(':').map(Number) as [number, number]
    return table.find(lo, hi) !== -1
  }
}

/**
 * Halves of digests. Few are different, so that searches for a free place collide. Some are at the ends of the range, so that searches wrap
 * around.
 */
const half = fc.oneof(
  fc.nat(30),
  fc.nat(30).map((one) => -one),
  fc.constantFrom(-1, -2, 0x7fffffff, -0x80000000),
  fc.integer(),
)
const steps = fc.array(
  fc.record({ kind: fc.constantFrom('put', 'put', 'put', 'remove', 'sweep', 'pass'), lo: half, hi: half, life: fc.nat(50) }),
  { maxLength: 400 },
)

describe('the table of the memory store', () => {
  it('is a map from digests to rows, whatever is put, removed and swept', () => {
    fc.assert(
      fc.property(steps, (run) => {
        const one = both()
        let now = 0
        for (const { kind, lo, hi, life } of run) {
          if (kind === 'put') one.put(lo, hi, now + life, now)
          else if (kind === 'remove') one.remove(lo, hi)
          else if (kind === 'sweep') one.sweep(now)
          else now += life
        }
        one.check()
      }),
      { seed: 20_261_121, numRuns: 1_500 },
    )
  })

  it('keeps every row through growth and cuts, and drops every spent one when it is looked through', () => {
    const { table } = both()
    let word = 1
    const next = (): number => (word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0)
    const digests = Array.from({ length: 50_000 }, () => [next() ^ (next() >>> 16), next() ^ (next() >>> 13)] as const)
    const found = (): number[] =>
      digests.map(([lo, hi]) => {
        const row = table.find(lo, hi)
        return row === -1 ? -1 : (table.segment.cells[row] as number)
      })
    digests.forEach(([lo, hi], index) => {
      table.find(lo, hi)
      const row = table.add(lo, hi, 1, 0, 1_000 + index)
      table.segment.cells[row] = 1_000 + index
    })
    expect(table.size).toBe(50_000)
    expect(table.pieces).toBeGreaterThan(16)
    expect(found()).toEqual(digests.map((_, index) => 1_000 + index))
    for (let piece = 0; piece < table.pieces; piece += 1) table.sweepNext(1_000 + 24_999)
    expect(table.size).toBe(25_000)
    expect(found()).toEqual(digests.map((_, index) => (index < 25_000 ? -1 : 1_000 + index)))
  })

  it('lets every row go once', () => {
    const { table, released } = both()
    for (let index = 0; index < 5_000; index += 1) {
      const [lo, hi] = [Math.imul(index, 0x9e3779b1), Math.imul(index, 0x85ebca6b)]
      table.find(lo, hi)
      const row = table.add(lo, hi, 1, 0, index)
      table.segment.cells[row] = index
    }
    for (let piece = 0; piece < table.pieces; piece += 1) table.sweepNext(10_000)
    expect(table.size).toBe(0)
    expect(released.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
  })

  it('finds every row where some segments are cut much deeper than others', () => {
    const { table } = both()
    let word = 7
    const next = (): number => (word = (Math.imul(word, 1_664_525) + 1_013_904_223) | 0)
    const mixed = (): number => next() ^ (next() >>> 15)
    // Four fifths of the digests begin with the same five bits: half of these with zeros, half with ones. The rest spreads over the whole
    // range.
    const digests = Array.from({ length: 40_000 }, (_, index) => {
      const hi = mixed()
      const skewed = index < 16_000 ? hi >>> 5 : index < 32_000 ? hi | 0xf8000000 : hi
      return [mixed(), skewed | 0] as const
    })
    digests.forEach(([lo, hi], index) => {
      if (table.find(lo, hi) !== -1) throw new Error('two digests are the same')
      const row = table.add(lo, hi, 1, 0, 1_000 + index)
      table.segment.cells[row] = 1_000 + index
    })
    expect(table.size).toBe(40_000)
    const found = digests.map(([lo, hi]) => {
      const row = table.find(lo, hi)
      return table.segment.cells[row]
    })
    expect(found).toEqual(digests.map((_, index) => 1_000 + index))
    for (let piece = 0; piece < table.pieces; piece += 1) table.sweepNext(100_000)
    expect(table.size).toBe(0)
  })

  it('lets a row go that is taken out', () => {
    const { table, released } = both()
    for (let index = 0; index < 10; index += 1) {
      table.find(Math.imul(index, 0x9e3779b1), index)
      const row = table.add(Math.imul(index, 0x9e3779b1), index, 1, 0, 100 + index)
      table.segment.cells[row] = 100 + index
    }
    for (const index of [3, 7]) {
      const row = table.find(Math.imul(index, 0x9e3779b1), index)
      table.remove(row)
    }
    expect([table.size, released]).toEqual([8, [103, 107]])
  })

  it('lets rows of several numbers go by where they begin', () => {
    const released: number[] = []
    const table = new Table(3, { expiresAt: () => 1, release: (_planId, cells, at) => void released.push(cells[at] as number) })
    for (let index = 0; index < 50; index += 1) {
      table.find(Math.imul(index, 0x9e3779b1), index)
      const row = table.add(Math.imul(index, 0x9e3779b1), index, 1, 0, 1)
      table.segment.cells.set([100 + index, -1, -1], row * 3)
    }
    for (const index of [0, 20, 49]) table.remove(table.find(Math.imul(index, 0x9e3779b1), index))
    expect(released).toEqual([100, 120, 149])
  })
})
