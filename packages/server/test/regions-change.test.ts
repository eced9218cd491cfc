import { describe, expect, it } from 'vitest'
import { added, drained, removed } from '../src/commands/regions/weights.ts'

describe('weights after a change', () => {
  it.each([
    ['drain', drained({ ap: 334, eu: 333, us: 333 }, 'ap'), { ap: 0, eu: 500, us: 500 }],
    ['drain, in proportion', drained({ ap: 500, eu: 400, us: 100 }, 'ap'), { ap: 0, eu: 800, us: 200 }],
    ['drain, with a rest', drained({ ap: 1, eu: 333, us: 333 }, 'ap'), { ap: 0, eu: 334, us: 333 }],
    ['drain, of less than all', drained({ eu: 300, us: 200 }, 'us'), { eu: 500, us: 0 }],
    ['drain, of the only one with a weight', drained({ ap: 0, eu: 0, us: 1000 }, 'us'), { ap: 500, eu: 500, us: 0 }],
    ['drain, of one that is drained', drained({ eu: 1000, us: 0 }, 'us'), { eu: 1000, us: 0 }],
    ['remove', removed({ ap: 0, eu: 400, us: 600 }, 'ap'), { eu: 400, us: 600 }],
    ['remove, with its weight', removed({ ap: 100, eu: 300, us: 600 }, 'ap'), { eu: 334, us: 666 }],
    ['add', added({ eu: 500, us: 500 }, 'ap', undefined), { ap: 333, eu: 334, us: 333 }],
    ['add, again', added({ eu: 1000, us: 0 }, 'us', undefined), { eu: 500, us: 500 }],
    ['add, with a weight', added({ eu: 800, us: 200 }, 'ap', 100), { ap: 100, eu: 720, us: 180 }],
    ['add, with all', added({ eu: 1000 }, 'ap', 1000), { ap: 1000, eu: 0 }],
  ])('%s', (_name, weights, expected) => {
    expect(weights).toEqual(expected)
    expect(Object.keys(weights)).toEqual(Object.keys(weights).sort())
  })

  it('refuse a region that is not known, and the only one', () => {
    expect(() => drained({ eu: 500, us: 500 }, 'ap')).toThrow('regions: NAME is "ap": expected one of eu, us')
    expect(() => removed({ eu: 1000 }, 'eu')).toThrow('eu is the only region')
    expect(() => added({ eu: 500 }, 'us', 501)).toThrow('--weight is "501": expected a whole number from 1 to 500')
  })
})
