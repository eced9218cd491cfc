import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { waitedMs } from '../src/machine/waited.ts'

describe('time spent waiting for a processor', () => {
  it('never runs back, and never faster than the clock', () => {
    const [started, before] = [performance.now(), waitedMs()]
    let last = before
    for (let poll = 0; poll < 1_000; poll += 1) {
      const now = waitedMs()
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
    // The kernel adds a wait when it is over, so the one before the first reading may be among them.
    expect(last - before).toBeLessThanOrEqual(performance.now() - started + 1_000)
  })

  it.skipIf(!existsSync('/proc/self/schedstat'))('is reported by Linux', () => {
    expect(waitedMs()).toBeGreaterThan(0)
  })
})
