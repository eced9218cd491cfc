import { describe, expect, it } from 'vitest'
import { amount } from '../src/render/cells.ts'
import { readingsTable, tallyText } from '../src/render/readings.ts'
import { markOf, type Measured, type Reading } from '../src/result/reading.ts'

const READING: Measured = { name: 'checkSync', unit: 'x', value: 1.9, goal: { atMost: 2 } }

describe('markOf', () => {
  it.each<[string, Partial<Measured>, string]>([
    ['the goal itself', { value: 2 }, 'reached'],
    ['a hair above it', { value: 2.001 }, 'missed'],
    ['at least', { value: 0.5, goal: { atLeast: 0.5 } }, 'reached'],
    ['less than at least', { value: 0.49, goal: { atLeast: 0.5 } }, 'missed'],
    ['no number', { value: Number.NaN }, 'missed'],
    ['missed, and the floor is below the goal', { value: 3, floor: { value: 1.5, what: 'a clock' } }, 'missed'],
    ['missed, and so does the floor', { value: 3, floor: { value: 2.5, what: 'a clock' } }, 'floor'],
    ['reached, whatever the floor', { floor: { value: 2.5, what: 'a clock' } }, 'reached'],
    ['reached, and one too many was let through', { overGrantPercent: 0.001 }, 'wrong'],
    ['reached, and one was denied that may pass', { wrongAnswers: 1 }, 'wrong'],
    ['nothing was let through wrongly', { overGrantPercent: 0, wrongAnswers: 0 }, 'reached'],
  ])('%s: %o is %s', (_, change, mark) => {
    expect(markOf({ ...READING, ...change })).toBe(mark)
  })

  it('without a goal, or without a figure', () => {
    expect(markOf({ name: 'decide', unit: 'x', value: 1 })).toBe('reported')
    expect(markOf({ name: '/v1/checks', goal: { atLeast: 4 }, absent: 'not there yet' })).toBe('absent')
  })
})

describe('the table', () => {
  const readings: Reading[] = [
    {
      ...READING,
      profile: 'denied flood',
      value: 3.456,
      spread: { low: 3.4, median: 3.456, high: 3.5 },
      ours: '190 ns',
      baseline: 'Map 55 ns',
      floor: { value: 0.8, what: 'the clock alone' },
      overGrantPercent: 0,
    },
    { name: 'memory', unit: 'bytes', value: 34.4, goal: { atMost: 56 } },
    { name: 'trips', unit: 'calls', value: 0.0156, goal: { atMost: 0.05 } },
    { name: 'many', goal: { atLeast: 4 }, absent: 'not there yet' },
    { name: 'many more', goal: { atLeast: 0.5 }, absent: 'not there yet' },
  ]

  it('shows the figure, its goal and what it is held against, and names what is missing once', () => {
    expect(readingsTable(readings)).toBe(
      [
        'figure                       measured     goal                   quartiles    ours   baseline  over-grant',
        '------------------------  -----------  -------  ------------  ------------  ------  ---------  ----------',
        'checkSync [denied flood]       3.46 x     <= 2        MISSED  3.40 .. 3.50  190 ns  Map 55 ns      0.00 %',
        'memory                       34 bytes    <= 56       reached',
        'trips                     0.016 calls  <= 0.05       reached',
        'many                                      >= 4  not measured',
        'many more                               >= 0.5  not measured',
        'the least that checkSync [denied flood] could be, against the same baseline: 0.80 x (the clock alone)',
        '2 not measured: not there yet',
      ].join('\n'),
    )
  })

  it('counts the marks that were given', () => {
    expect(tallyText(readings)).toBe('2 reached, 1 missed, 2 not measured')
    expect(tallyText([])).toBe('no goal was set')
  })

  it('shows a figure that could not be computed as such', () => {
    expect(amount(Number.NaN, 'us')).toBe('? us')
  })
})
