import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../src/time/instant.ts'

describe('instants', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['1970-01-01T00:00:00.000001Z', 1],
    ['2000-02-29T12:00:00Z', 951_825_600_000_000],
    ['2024-02-29T23:59:59.5Z', 1_709_251_199_500_000],
    ['2026-12-31T23:59:59+01:00', 1_798_757_999_000_000],
    ['2026-12-31T23:59:59-01:30', 1_798_766_999_000_000],
    ['2100-01-01T00:00:00Z', 4_102_444_800_000_000],
  ])('%s', (text, micros) => {
    expect(parseInstant(text)).toBe(micros)
  })

  it('agree with the calendar of the platform on every day of four centuries', () => {
    for (let day = 0; day < 103_000; day += 13) {
      const text = new Date(day * 86_400_000).toISOString()
      expect(parseInstant(text)).toBe(day * 86_400_000_000)
    }
  })

  it.each([
    '',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+01:00',
    '2255-01-01T00:00:00Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00.0000001Z',
  ])('%j is not one', (text) => {
    expect(parseInstant(text)).toBeUndefined()
  })
})
