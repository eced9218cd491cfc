import { describe, expect, it } from 'vitest'
import { differencesOf, median, ratiosOf, spreadOf } from '../src/result/statistics.ts'

describe('spreadOf', () => {
  it.each([
    { values: [7], low: 7, median: 7, high: 7 },
    { values: [1, 2], low: 1.25, median: 1.5, high: 1.75 },
    { values: [9, 1, 5], low: 3, median: 5, high: 7 },
    { values: [4, 1, 3, 2, 5], low: 2, median: 3, high: 4 },
    { values: [1, 1, 1, 1, 100], low: 1, median: 1, high: 1 },
  ])('$values', ({ values, ...spread }) => {
    expect(spreadOf(values)).toEqual(spread)
  })

  it('is no number where there are no values, and leaves the order it was given', () => {
    expect(spreadOf([])).toEqual({ low: Number.NaN, median: Number.NaN, high: Number.NaN })
    const values = [3, 1, 2]
    expect(median(values)).toBe(2)
    expect(values).toEqual([3, 1, 2])
  })
})

describe('pairs', () => {
  it('compares within a round: a machine that gets slower changes no ratio', () => {
    expect(ratiosOf([2, 20, 200], [1, 10, 100])).toEqual({ low: 2, median: 2, high: 2 })
    expect(differencesOf([3, 13, 23], [1, 11, 21]).median).toBe(2)
  })

  it('refuses rounds that do not belong together', () => {
    expect(() => ratiosOf([1, 2], [1])).toThrow('2 values cannot be paired with 1')
  })
})
