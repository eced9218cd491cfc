import { describe, expect, it } from 'vitest'
import { fixedWindow } from '../../src/algorithms/fixed-window.ts'
import { keyOf } from './changing-key.ts'

describe('law 7 on the fixed window: a changed window', () => {
  const minute = fixedWindow({ limit: 10, window: '1m' })
  const hour = fixedWindow({ limit: 10, window: '1h' })

  it('is prolonged where it grows, also by a call that is denied', () => {
    const key = keyOf()
    key.ask(minute, 30, 10)
    expect(key.ask(hour, 31, 1)).toMatchObject({ outcome: 'denied', retry: 3_569, written: 1 })
    expect(key.ask(hour, 32, 1)).toMatchObject({ outcome: 'denied', retry: 3_568, written: 0 })
    expect(key.ask(hour, 3_600, 10).outcome).toBe('allowed')
  })

  it('runs to its end where it shrinks, and the next one is short', () => {
    const key = keyOf()
    key.ask(hour, 30, 8)
    expect(key.ask(minute, 31, 1)).toMatchObject({ outcome: 'allowed', remaining: 1 })
    expect(key.ask(minute, 90, 2)).toMatchObject({ outcome: 'denied', retry: 3_510 })
    expect(key.ask(minute, 3_600, 10).outcome).toBe('allowed')
    expect(key.ask(minute, 3_660, 10).outcome).toBe('allowed')
  })

  it('ends no earlier than it would have where the two do not divide each other', () => {
    const [six, ten] = [fixedWindow({ limit: 5, window: '6s' }), fixedWindow({ limit: 5, window: '10s' })]
    const key = keyOf()
    key.ask(six, 7, 5)
    expect(key.ask(ten, 8, 1)).toMatchObject({ outcome: 'denied', retry: 4 })
    expect(key.ask(ten, 12, 1).outcome).toBe('allowed')
  })

  it('keeps the start of one that began with its first charge', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '1m', align: 'first' }), fixedWindow({ limit: 5, window: '1h', align: 'first' })]
    const key = keyOf()
    key.ask(short, 10, 5)
    expect(key.ask(long, 40, 1)).toMatchObject({ outcome: 'denied', retry: 3_570 })
    expect(key.ask(short, 50, 1)).toMatchObject({ outcome: 'denied', retry: 3_560, written: 0 })
    expect(key.ask(long, 60, 1)).toMatchObject({ outcome: 'denied', retry: 3_550, written: 0 })
  })

  it('knows where the windows of a key end that are spread', () => {
    const [short, long] = [fixedWindow({ limit: 5, window: '10s', align: 'key' }), fixedWindow({ limit: 5, window: '1m', align: 'key' })]
    const key = keyOf(2 ** 30)
    key.ask(short, 1, 5)
    expect(key.ask(long, 2, 1)).toMatchObject({ outcome: 'denied', retry: 13 })
    expect(key.ask(long, 15, 5).outcome).toBe('allowed')
    expect(key.ask(long, 74.999999, 1).outcome).toBe('denied')
    expect(key.ask(long, 75, 1).outcome).toBe('allowed')
  })

  it('has no ramp of its own in the window that runs on', () => {
    const [long, short] = [fixedWindow({ limit: 10, window: '1h', ramp: '10m' }), fixedWindow({ limit: 10, window: '1m', ramp: '30s' })]
    const key = keyOf()
    key.ask(long, 1_200, 2)
    expect(key.ask(short, 1_201, 8).outcome).toBe('allowed')
  })

  it('locks nobody out for longer than the longer of two windows that take turns', () => {
    for (const align of ['clock', 'first', 'key'] as const) {
      const key = keyOf(12_345)
      const [short, long] = [fixedWindow({ limit: 1, window: '7s', align }), fixedWindow({ limit: 1, window: '60s', align })]
      let last = 0
      for (let second = 0; second < 600; second += 1) {
        if (key.ask(second % 2 === 0 ? short : long, second, 1).outcome === 'allowed') last = second
        expect(second - last).toBeLessThan(120)
      }
    }
  })
})
