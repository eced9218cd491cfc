import { describe, expect, it } from 'vitest'
import { Room } from '../../../src/stores/memory/room.ts'
import { seeded } from '../../../src/testing/random.ts'

const NOW = 1_763_692_800_000_000
const MAX_KEYS = 100

function blocking() {
  const room = new Room(MAX_KEYS, { maxBytes: 0, maxHolds: 0 }, seeded(1))
  const id = (key: number) => ({ scope: { text: 's:' }, key: String(key) })
  return {
    room,
    block: (key: number, until: number) => room.block(id(key), until, NOW),
    unblock: (key: number) => room.unblock(id(key)),
    until: (key: number, now = NOW) => room.blockOf(id(key), now),
  }
}

describe('blocks', () => {
  it('last until their end and not a microsecond longer', () => {
    const { block, until } = blocking()
    block(1, NOW + 5)
    expect([NOW, NOW + 4, NOW + 5, NOW + 6].map((now) => until(1, now))).toEqual([NOW + 5, NOW + 5, 0, 0])
    expect(until(2)).toBe(0)
  })

  it('are moved where they are set again, and lifted', () => {
    const { room, block, unblock, until } = blocking()
    block(1, NOW + 5)
    block(1, NOW + 50)
    block(3, NOW + 7)
    expect([room.size, until(1)]).toEqual([2, NOW + 50])
    block(1, NOW + 1)
    expect(until(1)).toBe(NOW + 1)
    unblock(1)
    unblock(9)
    expect([room.size, until(1), until(3)]).toEqual([1, 0, NOW + 7])
  })

  it('are swept once they are over, also those that were made shorter', () => {
    const { room, block } = blocking()
    for (let key = 0; key < MAX_KEYS; key += 1) block(key, NOW + 1_000)
    for (let key = 0; key < 50; key += 1) block(key, NOW + 10)
    const sweep = (now: number, needed: number): [made: boolean, size: number] => [room.makeRoom(now, () => needed), room.size]
    expect(sweep(NOW + 9, 1)).toEqual([false, 100])
    expect(sweep(NOW + 10, 51)).toEqual([false, 50])
    expect(sweep(NOW + 1_000, 100)).toEqual([true, 0])
  })
})
