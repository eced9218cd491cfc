import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { keyOf } from './changing-key.ts'
import { MIDNIGHT } from './traces/trace.ts'

const S = 1_000_000

describe('law 7 on the fixed window: a changed window', () => {
  const minute = fixedWindow({ limit: 10, window: '1m' })
  const hour = fixedWindow({ limit: 10, window: '1h' })

  it('is prolonged where it grows, also by a call that is denied', () => {
    const key = keyOf()
    key.decide(minute, 30, 10)
    expect(key.decide(hour, 31, 1)).toMatchObject({ outcome: 'denied', retry: 3_569, written: 1 })
    expect(key.decide(hour, 32, 1)).toMatchObject({ outcome: 'denied', retry: 3_568, written: 0 })
    expect(key.decide(hour, 3_600, 10).outcome).toBe('allowed')
  })

  it('runs to its end where it shrinks, and the next one is short', () => {
    const key = keyOf()
    key.decide(hour, 30, 8)
    expect(key.decide(minute, 31, 1)).toMatchObject({ outcome: 'allowed', remaining: 1 })
    expect(key.decide(minute, 90, 2)).toMatchObject({ outcome: 'denied', retry: 3_510 })
    expect(key.decide(minute, 3_600, 10).outcome).toBe('allowed')
    expect(key.decide(minute, 3_660, 10).outcome).toBe('allowed')
  })

  it('ends no earlier than it would have where the two do not divide each other', () => {
    const [six, ten] = [fixedWindow({ limit: 5, window: '6s' }), fixedWindow({ limit: 5, window: '10s' })]
    const key = keyOf()
    key.decide(six, 7, 5)
    expect(key.decide(ten, 8, 1)).toMatchObject({ outcome: 'denied', retry: 4 })
    expect(key.decide(ten, 12, 1).outcome).toBe('allowed')
  })

  it('keeps the start of one that began with its first charge', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '1m', align: 'first' }), fixedWindow({ limit: 5, window: '1h', align: 'first' })]
    const key = keyOf()
    key.decide(short, 10, 5)
    expect(key.decide(long, 40, 1)).toMatchObject({ outcome: 'denied', retry: 3_570 })
    expect(key.decide(short, 50, 1)).toMatchObject({ outcome: 'denied', retry: 3_560, written: 0 })
    expect(key.decide(long, 60, 1)).toMatchObject({ outcome: 'denied', retry: 3_550, written: 0 })
  })

  it('knows where the windows of a key end that are spread', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '10s', align: 'key' }), fixedWindow({ limit: 5, window: '1m', align: 'key' })]
    const key = keyOf(2 ** 30)
    key.decide(short, 1, 5)
    expect(key.decide(long, 2, 1)).toMatchObject({ outcome: 'denied', retry: 13 })
    expect(key.decide(long, 15, 5).outcome).toBe('allowed')
    expect(key.decide(long, 74.999999, 1).outcome).toBe('denied')
    expect(key.decide(long, 75, 1).outcome).toBe('allowed')
  })

  it('has no ramp of its own in the window that runs on', () => {
    const [long, short] = [fixedWindow({ limit: 10, window: '1h', ramp: '10m' }), fixedWindow({ limit: 10, window: '1m', ramp: '30s' })]
    const key = keyOf()
    key.decide(long, 1_200, 2)
    expect(key.decide(short, 1_201, 8).outcome).toBe('allowed')
  })

  it('is as long as the longer one after that, where a shorter plan is called first, which has its own limit in each part of it', () => {
    const key = keyOf()
    const [one, ten] = [fixedWindow({ limit: 3, window: '10s' }), fixedWindow({ limit: 20, window: '1m' })]
    key.decide(ten, 30, 20)
    expect(key.decide(one, 31, 1)).toMatchObject({ outcome: 'denied', retry: 29, written: 1 })
    expect(key.decide(one, 65, 3)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.decide(one, 66, 1)).toMatchObject({ outcome: 'denied', retry: 4, written: 0 })
    expect(key.decide(one, 70, 3)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    // What was not taken in a part is lost.
    expect(key.decide(one, 109, 2)).toMatchObject({ outcome: 'allowed', remaining: 1 })
    expect(key.state).toMatchObject({ end: MIDNIGHT + 120 * S, count: 14 * S, window: 60 * S })
    expect(key.decide(ten, 110, 7)).toMatchObject({ outcome: 'denied', remaining: 6, written: 1 })
    expect(key.decide(ten, 110, 6)).toMatchObject({ outcome: 'allowed', remaining: 0 })
    expect(key.decide(one, 111, 1)).toMatchObject({ outcome: 'denied', retry: 9 })
  })

  it('is forgotten where the longer plan was not called in a whole window', () => {
    const key = keyOf()
    const one = fixedWindow({ limit: 3, window: '10s' })
    key.decide(hour, 30, 1)
    key.decide(one, 31, 1)
    key.decide(one, 3_600, 3)
    expect(key.decide(one, 7_190, 3).outcome).toBe('allowed')
    expect(key.decide(one, 7_200, 3).outcome).toBe('allowed')
    expect(key.state).toMatchObject({ end: MIDNIGHT + 7_210 * S, window: 10 * S })
    expect(key.decide(hour, 7_211, 8).outcome).toBe('allowed')
  })

  it('is not cut short by one that ended within it', () => {
    const [first, clock] = [fixedWindow({ limit: 5, window: '10s', align: 'first' }), fixedWindow({ limit: 5, window: '10s' })]
    const key = keyOf()
    key.decide(first, 5, 5)
    expect(key.decide(clock, 12, 1)).toMatchObject({ outcome: 'denied', retry: 3 })
    expect(key.decide(clock, 15, 5).outcome).toBe('allowed')
    expect(key.decide(clock, 20, 1)).toMatchObject({ outcome: 'denied', retry: 10 })
    expect(key.decide(clock, 30, 5).outcome).toBe('allowed')
    expect(key.decide(clock, 40, 5).outcome).toBe('allowed')
  })

  it('gives a part back, and takes up to twice the limit in it', () => {
    const one = fixedWindow({ limit: 3, window: '10s' })
    const { algorithm, plan } = one
    const held = { end: 120 * S, count: 5 * S, window: 60 * S, turn: 5 }
    expect(algorithm.adjust(plan, held, 75 * S, 5 * S, 0)).toEqual({ ...held, count: 3 * S })
    expect(algorithm.adjust(plan, held, 75 * S, S, 0, 69 * S)).toBe(held)
    expect(algorithm.adjust(plan, held, 75 * S, S, 0, 70 * S)).toEqual({ ...held, count: 4 * S })
    expect(algorithm.adjust(plan, held, 75 * S, -9 * S, 0)).toEqual({ ...held, count: 9 * S })
    expect(algorithm.adjust(plan, held, 85 * S, S, 0)).toBe(held)
    expect(algorithm.decide(plan, { ...held, count: 9 * S }, 75 * S, S, 0)).toMatchObject({ outcome: 'denied', retryAfter: 15 * S })
  })

  it('locks nobody out for longer than the longer of two windows that take turns', () => {
    for (const align of ['clock', 'first', 'key'] as const) {
      const key = keyOf(12_345)
      const [short, long] = [fixedWindow({ limit: 1, window: '7s', align }), fixedWindow({ limit: 1, window: '60s', align })]
      let last = 0
      for (let second = 0; second < 600; second += 1) {
        if (key.decide(second % 2 === 0 ? short : long, second, 1).outcome === 'allowed') last = second
        expect(second - last).toBeLessThan(120)
      }
    }
  })
})
