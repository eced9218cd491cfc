import { describe, expect, it } from 'vitest'
import { Arena, ENTRY } from '../../src/algorithms/log-arena.ts'

const PAGE = 65_536
const MAX_SIZE = 14

describe('the memory of logs', () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 1],
    [3, 2],
    [4, 2],
    [5, 3],
    [8_192, 13],
    [8_193, 14],
    [10_000, 14],
  ])('%s entries need a block of 2 ** %s', (entries, size) => {
    expect(Arena.sizeFor(entries)).toBe(size)
    expect(Arena.bytesOf(size)).toBe(2 ** size * ENTRY * 8)
  })

  it('uses again what was given back, the last first, and counts what is in use', () => {
    const arena = new Arena()
    const [one, two, three] = [arena.take(3), arena.take(3), arena.take(3)]
    expect(arena.bytes).toBe(3 * Arena.bytesOf(3))
    expect(new Set([one, two, three]).size).toBe(3)
    arena.giveBack(one, 3)
    arena.giveBack(three, 3)
    expect(arena.bytes).toBe(Arena.bytesOf(3))
    expect(arena.take(2)).not.toBeOneOf([one, two, three])
    expect([arena.take(3), arena.take(3)]).toEqual([three, one])
  })

  it('fills a page to its last double, and then begins another', () => {
    const arena = new Arena()
    const blocks = [arena.take(MAX_SIZE), arena.take(MAX_SIZE), arena.take(MAX_SIZE)]
    expect(blocks).toEqual([0, PAGE / 2, PAGE])
    const [first, second, third] = blocks.map((block) => arena.pageOf(block))
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(blocks.map((block) => arena.offsetOf(block))).toEqual([0, PAGE / 2, 0])
    expect(first).toHaveLength(PAGE)
  })

  it('makes free blocks of what a page has left when it is too little', () => {
    const arena = new Arena()
    arena.take(0)
    arena.take(MAX_SIZE)
    // The page has 32,766 doubles left. That is too little for the largest block, but it makes one free block of each smaller size.
    expect(arena.take(MAX_SIZE)).toBe(PAGE)
    let at = ENTRY + 2 ** MAX_SIZE * ENTRY
    for (let size = MAX_SIZE - 1; size >= 0; size -= 1) {
      expect(arena.take(size)).toBe(at)
      at += 2 ** size * ENTRY
    }
    expect(at).toBe(PAGE)
    expect(arena.take(0)).toBe(PAGE + 2 ** MAX_SIZE * ENTRY)
  })
})
