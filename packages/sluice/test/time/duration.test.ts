import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/time/duration.ts'
import { MAX_MICROS } from '../../src/time/micros.ts'

describe('parseDuration', () => {
  it.each([
    ['1us', 1],
    ['30s', 30_000_000],
    ['1.5h', 5_400_000_000],
    ['0.000001s', 1],
    ['0.5ms', 500],
    ['min', 60_000_000],
    ['2 minutes', 120_000_000],
    ['  10  sec ', 10_000_000],
    ['1m', 60_000_000],
    ['1ms', 1_000],
    ['1d', 86_400_000_000],
    ['2 weeks', 1_209_600_000_000],
    ['36525d', MAX_MICROS],
    [`${MAX_MICROS}us`, MAX_MICROS],
    [1, 1_000],
    [0.001, 1],
    [1_500, 1_500_000],
  ])('reads %j as %d microseconds', (value, micros) => {
    expect(parseDuration(value)).toBe(micros)
  })

  it.each([
    '',
    ' ',
    '0s',
    '-1s',
    '1',
    '1.s',
    '.5s',
    '1e3s',
    '0x10s',
    '1 s s',
    '1S',
    '1 fortnight',
    '0.5us',
    '1.0000001s',
    '36526d',
    `${MAX_MICROS + 1}us`,
    's1',
    '1s\n2s',
    '١s',
    0,
    -1,
    0.0001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    MAX_MICROS,
  ])('refuses %j', (value) => {
    expect(() => parseDuration(value)).toThrow(expect.objectContaining({ code: 'INVALID_DURATION' }))
  })
})
