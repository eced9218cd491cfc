import { describe, expect, it } from 'vitest'
import { seeded } from '../../src/testing/random.ts'
import { manualClock } from '../../src/time/manual.ts'
import { createWakeups, type Wakeup } from '../../src/time/wakeups.ts'

describe('wakeups', () => {
  it('run at their instants, in order, whoever is removed', () => {
    const random = seeded(5)
    const pick = (count: number): number => Math.floor(random() * count)
    const clock = manualClock()
    const wakeups = createWakeups(clock)
    const ran: { readonly at: number; readonly nth: number; readonly now: number }[] = []
    let waiting: Wakeup[] = []
    let removed = 0
    for (let nth = 0; nth < 2_000; nth += 1) {
      const entry: Wakeup = {
        at: clock.monotonic() + pick(50) / 4,
        nth: 0,
        index: -1,
        run: () => {
          waiting = waiting.filter((other) => other !== entry)
          ran.push({ at: entry.at, nth, now: clock.monotonic() })
        },
      }
      wakeups.add(entry)
      waiting.push(entry)
      if (pick(3) === 0) {
        const [gone] = waiting.splice(pick(waiting.length), 1) as [Wakeup]
        wakeups.remove(gone)
        wakeups.remove(gone)
        removed += 1
      }
      expect(wakeups.size).toBe(waiting.length)
      if (pick(4) === 0) clock.advance(pick(8))
    }
    clock.advance(100)
    expect([wakeups.size, ran.length]).toEqual([0, 2_000 - removed])
    for (const { at, now } of ran) {
      expect(now).toBeGreaterThanOrEqual(at)
      // Timers are set in whole milliseconds.
      expect(now).toBeLessThan(at + 1)
    }
    const steps = new Map<number, { readonly at: number; readonly nth: number }[]>()
    for (const one of ran) steps.set(one.now, [...(steps.get(one.now) ?? []), one])
    for (const together of steps.values())
      expect(together).toEqual(together.toSorted((one, other) => one.at - other.at || one.nth - other.nth))
  })
})
