import { describe, expect, it } from 'vitest'
import { createChangeLog } from '../../src/regions/change-log.ts'
import { seeded } from '../../src/testing/random.ts'

describe('a change log', () => {
  it('has what a sorted list of all items has, after any changes and removals', () => {
    const random = seeded(7)
    const below = (bound: number): number => Math.floor(random() * bound)
    const log = createChangeLog<{ name: number; changed: number }>()
    const items = new Map<number, { name: number; changed: number }>()
    for (let step = 0; step < 5_000; step += 1) {
      const name = below(90)
      const known = items.get(name)
      if (random() < 0.2 && known !== undefined) {
        log.remove(known)
        items.delete(name)
      } else {
        const item = known ?? { name, changed: 0 }
        items.set(name, item)
        log.change(item, known === undefined)
      }
      const cursor = Math.max(0, log.last - below(300))
      const sorted = [...items.values()].filter(({ changed }) => changed > cursor).sort((a, b) => a.changed - b.changed)
      const most = below(40) + 1
      expect(log.after(cursor, most)).toEqual(sorted.slice(0, most))
      expect(log.size).toBe(items.size)
    }
  })

  it('reads what changed last without looking at what changed before', () => {
    const log = createChangeLog<{ changed: number }>()
    let looked = 0
    const item = () => {
      let number = 0
      return {
        get changed() {
          looked += 1
          return number
        },
        set changed(value: number) {
          number = value
        },
      }
    }
    for (let index = 0; index < 10_000; index += 1) log.change(item(), true)
    looked = 0
    expect(log.after(9_990, 100)).toHaveLength(10)
    expect(looked).toBeLessThan(20)
  })
})
