import { describe, expect, it } from 'vitest'
import { seeded } from '../../src/testing/random.ts'
import { createDeadlines, type Deadlines } from '../../src/time/deadlines.ts'
import { manualClock } from '../../src/time/manual.ts'
import type { Time } from '../../src/time/time.ts'

/** A manual clock that counts the timers that are armed. */
function counted(): { deadlines: Deadlines; advance(ms: number): void; armed(): number; started(): number } {
  const clock = manualClock()
  let armed = 0
  let started = 0
  const time: Time = {
    ...clock,
    after(ms, fn) {
      let live = true
      armed += 1
      started += 1
      const end = (): void => {
        if (live) armed -= 1
        live = false
      }
      const cancel = clock.after(ms, () => {
        end()
        fn()
      })
      return () => {
        end()
        cancel()
      }
    },
  }
  return { deadlines: createDeadlines(time), advance: clock.advance, armed: () => armed, started: () => started }
}

describe('deadlines', () => {
  it('run at their instant and not before, nearest first, whatever the order they were added in', () => {
    const { deadlines, advance } = counted()
    const ran: number[] = []
    for (const at of [30, 10, 20, 10.5, 40]) deadlines.add(at, () => ran.push(at))
    advance(9)
    expect(ran).toEqual([])
    advance(1)
    expect(ran).toEqual([10])
    advance(15)
    expect(ran).toEqual([10, 10.5, 20])
    advance(15)
    expect(ran).toEqual([10, 10.5, 20, 30, 40])
  })

  it('of one instant run in the order they were added in', () => {
    const { deadlines, advance } = counted()
    const ran: string[] = []
    for (const name of ['a', 'b', 'c']) deadlines.add(5, () => ran.push(name))
    advance(5)
    expect(ran).toEqual(['a', 'b', 'c'])
  })

  it('share one timer, which stops when nothing is left to wait for', () => {
    const { deadlines, advance, armed, started } = counted()
    const cancels = Array.from({ length: 1_000 }, (_, index) => deadlines.add(150 + index, () => {}))
    expect([armed(), started()]).toEqual([1, 1])
    cancels.forEach((one) => one.cancel())
    expect(armed()).toBe(0)
    deadlines.add(70, () => {})
    expect(armed()).toBe(1)
    advance(70)
    expect(armed()).toBe(0)
  })

  it('one after another share a timer too: one that is soon over is left to end, for the next', () => {
    const { deadlines, advance, armed, started } = counted()
    let late = 0
    for (let call = 0; call < 100; call += 1) {
      const deadline = deadlines.add(call + 50, () => (late += 1))
      advance(1)
      deadline.cancel()
    }
    // About one timer was started for every 50 ms, and not one for each call.
    expect(started()).toBeLessThan(5)
    expect(armed()).toBe(1)
    advance(50)
    expect([armed(), late]).toEqual([0, 0])
    deadlines.add(200, () => (late += 1))
    advance(50)
    expect(late).toBe(1)
  })

  it('cancelled ones do not run, and cancelling twice or too late takes nothing from others', () => {
    const { deadlines, advance, armed } = counted()
    const ran: string[] = []
    const early = deadlines.add(10, () => ran.push('early'))
    const gone = deadlines.add(20, () => ran.push('gone'))
    deadlines.add(30, () => ran.push('late'))
    gone.cancel()
    gone.cancel()
    advance(10)
    early.cancel()
    expect(armed()).toBe(1)
    advance(20)
    expect(ran).toEqual(['early', 'late'])
  })

  it('a nearer one takes the timer over', () => {
    const { deadlines, advance, armed } = counted()
    const ran: number[] = []
    deadlines.add(1_000, () => ran.push(1_000))
    deadlines.add(5, () => ran.push(5))
    expect(armed()).toBe(1)
    advance(5)
    expect(ran).toEqual([5])
    advance(995)
    expect(ran).toEqual([5, 1_000])
  })

  it('one that has passed already runs at the next turn, not at once', () => {
    const { deadlines, advance } = counted()
    advance(100)
    let ran = false
    deadlines.add(50, () => (ran = true))
    expect(ran).toBe(false)
    advance(0)
    expect(ran).toBe(true)
  })

  it('may add and cancel others while they run', () => {
    const { deadlines, advance, armed } = counted()
    const ran: string[] = []
    deadlines.add(10, () => {
      ran.push('first')
      other.cancel()
      deadlines.add(10, () => ran.push('added for now'))
      deadlines.add(15, () => ran.push('added for later'))
    })
    const other = deadlines.add(10, () => ran.push('cancelled by the first'))
    advance(10)
    expect(ran).toEqual(['first', 'added for now'])
    advance(5)
    expect(ran).toEqual(['first', 'added for now', 'added for later'])
    expect(armed()).toBe(0)
  })

  it('equal a plain list on 20,000 random additions and cancellations', () => {
    const { deadlines, advance, armed } = counted()
    const random = seeded(20_261_121)
    const ran: number[] = []
    let pending: { at: number; id: number; cancel: () => void }[] = []
    let now = 0
    for (let id = 0; id < 20_000; id += 1) {
      const at = now + Math.floor(random() * 100) + (random() < 0.1 ? -20 : 50)
      const added = deadlines.add(at, () => ran.push(id))
      pending.push({ at, id, cancel: () => added.cancel() })
      if (random() < 0.7) pending.splice(Math.floor(random() * pending.length), 1)[0]?.cancel()
      if (random() < 0.8) continue
      const step = 1 + Math.floor(random() * 10)
      now += step
      advance(step)
      const due = pending.filter((entry) => entry.at <= now).map((entry) => entry.id)
      pending = pending.filter((entry) => entry.at > now)
      expect(ran.splice(0).sort((a, b) => a - b)).toEqual(due)
    }
    pending.forEach(({ cancel }) => cancel())
    advance(100)
    expect([ran, armed()]).toEqual([[], 0])
  })
})
