import { describe, expect, it } from 'vitest'
import { longestCall, longestCollection } from '../src/memory/pauses.ts'

describe('longest calls', () => {
  const minor = { at: 12, ms: 5, kind: 'minor' }
  const major = { at: 100, ms: 30, kind: 'major' }

  it.each([
    ['nothing fell into it', { at: 0, wall: 3, own: 3 }, { wall: 3, own: 3, apart: 3 }],
    ['others had the processor', { at: 0, wall: 9, own: 2 }, { wall: 9, own: 2, apart: 2 }],
    ['a collection within', { at: 10, wall: 8, own: 8 }, { wall: 8, own: 8, apart: 3 }],
    ['a collection that began in it', { at: 90, wall: 11, own: 11 }, { wall: 11, own: 11, apart: 10 }],
    ['all of it was a collection', { at: 101, wall: 4, own: 4 }, { wall: 4, own: 4, apart: 0 }],
    ['a collection within, and others too', { at: 10, wall: 20, own: 6 }, { wall: 20, own: 6, apart: 6 }],
  ])('%s', (_, run, longest) => {
    expect(longestCall([run], [minor, major])).toEqual(longest)
  })

  it('each measure finds its own longest', () => {
    const runs = [
      { at: 0, wall: 9, own: 1 },
      { at: 11, wall: 7, own: 7 },
      { at: 40, wall: 3, own: 3 },
    ]
    expect(longestCall(runs, [minor])).toEqual({ wall: 9, own: 7, apart: 3 })
    expect(longestCall([], [minor])).toEqual({ wall: 0, own: 0, apart: 0 })
  })

  it('the longest collection, or none', () => {
    expect(longestCollection([minor, major])).toBe(major)
    expect(longestCollection([])).toEqual({ at: 0, ms: 0, kind: 'none' })
  })
})
