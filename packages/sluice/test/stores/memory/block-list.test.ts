import { describe, expect, it } from 'vitest'
import { BlockList } from '../../../src/stores/memory/table/block-list.ts'

const NOW = 1_763_692_800_000_000

describe('blocks', () => {
  it('last until their end and not a microsecond longer', () => {
    const blocks = new BlockList()
    blocks.set(1, 2, NOW + 5, NOW)
    expect([NOW, NOW + 4, NOW + 5, NOW + 6].map((now) => blocks.until(1, 2, now))).toEqual([NOW + 5, NOW + 5, 0, 0])
    expect(blocks.until(2, 1, NOW)).toBe(0)
  })

  it('are moved where they are set again, and lifted', () => {
    const blocks = new BlockList()
    blocks.set(1, 2, NOW + 5, NOW)
    blocks.set(1, 2, NOW + 50, NOW)
    blocks.set(3, 4, NOW + 7, NOW)
    expect([blocks.size, blocks.until(1, 2, NOW)]).toEqual([2, NOW + 50])
    blocks.set(1, 2, NOW + 1, NOW)
    expect(blocks.until(1, 2, NOW)).toBe(NOW + 1)
    blocks.lift(1, 2)
    blocks.lift(9, 9)
    expect([blocks.size, blocks.until(1, 2, NOW), blocks.until(3, 4, NOW)]).toEqual([1, 0, NOW + 7])
  })

  it('are swept once they are over, also those that were made shorter', () => {
    const blocks = new BlockList()
    for (let key = 0; key < 100; key += 1) blocks.set(key, key, NOW + 1_000, NOW)
    for (let key = 0; key < 50; key += 1) blocks.set(key, key, NOW + 10, NOW)
    const sweep = (now: number): number => {
      for (let piece = 0; piece < blocks.pieces; piece += 1) blocks.sweepNext(now)
      return blocks.size
    }
    expect(blocks.pieces).toBeGreaterThan(0)
    expect(sweep(NOW + 9)).toBe(100)
    expect(sweep(NOW + 10)).toBe(50)
    expect(sweep(NOW + 1_000)).toBe(0)
  })
})
