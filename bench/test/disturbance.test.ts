import { expect, it } from 'vitest'
import { disturbanceText, machineTicks, processTicks } from '../src/machine/disturbance.ts'

it('reads the ticks of the machine: idle and waiting are not busy, and guests are counted once', () => {
  const stat = 'cpu  10 1 2 100 20 3 4 5 9 8\ncpu0 1 1 1 1 1 1 1 1 1 1\n'
  expect(machineTicks(stat)).toEqual({ all: 145, busy: 20, steal: 5 })
})

it('reads the ticks of a process, also if its name has blanks and parentheses', () => {
  const stat = '42 (a (b) c) S 7 42 42 0 -1 0 1 2 3 4 10 20 30 40 20 0'
  expect(processTicks(stat)).toEqual({ parent: 7, ticks: 100 })
})

it('names what disturbed, and is silent about noise', () => {
  expect(disturbanceText(undefined)).toBeUndefined()
  expect(disturbanceText({ stealPercent: 0.5, othersPercent: 3 })).toBeUndefined()
  expect(disturbanceText({ stealPercent: 9, othersPercent: 30 })).toBe('other processes 30 %, steal 9 %')
})
