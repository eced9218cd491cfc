import { expect, it } from 'vitest'
import { type ManualClock, manualClock } from '../../src/time/manual.ts'

it('an advance that stops at timers between two microseconds is as long as any other', () => {
  const clock = manualClock(0)
  for (let second = 1; second <= 1_000; second += 1) {
    for (const ms of [0.000_4, 0.000_8]) clock.after(ms, () => {})
    clock.advance(1_000)
    expect([clock.now(), clock.monotonic()]).toEqual([second * 1_000_000, second * 1_000])
  }
})

it('many advances of less than a microsecond add up', () => {
  const clock = manualClock(0)
  for (let step = 0; step < 4_096; step += 1) clock.advance(1 / 4_096)
  expect([clock.now(), clock.monotonic()]).toEqual([1_000, 1])
})

it('a timer sees the instant for which it was set', () => {
  const clock = manualClock(0)
  const seen: number[][] = []
  for (const ms of [1.5, 0.25]) clock.after(ms, () => seen.push([clock.now(), clock.monotonic()]))
  clock.advance(10)
  expect(seen).toEqual([
    [250, 0.25],
    [1_500, 1.5],
  ])
})

it('a timer that advances the clock itself does not set it back', () => {
  const clock = manualClock(0)
  clock.after(1, () => clock.advance(20))
  clock.advance(10)
  expect([clock.now(), clock.monotonic()]).toEqual([21_000, 21])
})

it('a shift moves wall time by its microseconds, and monotonic time only forward', () => {
  const clock = manualClock(0)
  clock.advance(0.000_5)
  const start = clock.now()
  const expectMoved = (micros: number, monotonic: number): void => {
    expect(clock.now() - start).toBe(micros)
    expect(clock.monotonic()).toBeCloseTo(monotonic, 9)
  }
  clock.shift(7)
  expectMoved(7, 0.007_5)
  clock.shift(-100)
  expectMoved(-93, 0.007_5)
  clock.advance(1)
  expectMoved(907, 1.007_5)
})

it('an old clock is as exact as a new one', () => {
  const year = 365 * 86_400_000
  for (const age of [(clock: ManualClock) => clock.advance(30 * year), (clock: ManualClock) => clock.shift(30 * year * 1_000)]) {
    const clock = manualClock(0)
    age(clock)
    const start = clock.now()
    for (let step = 1; step <= 10_000; step += 1) {
      clock.advance(0.1)
      expect(clock.now() - start).toBe(step * 100)
    }
    clock.advance(0.000_5)
    const half = clock.now()
    clock.advance(1)
    expect(clock.now() - half).toBe(1_000)
  }
})
