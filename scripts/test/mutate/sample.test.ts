import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Mutant, mutantsOf } from '../../src/mutate/mutants.ts'
import { ROOMS } from '../../src/mutate/rooms.ts'
import { atMost, drawSample, judge, readSample, sampledKey, type SampleResult } from '../../src/mutate/sample.ts'
import { keyOf } from '../../src/mutate/mutants.ts'
import { tree } from '../tree.ts'

const [kernels, lua] = ROOMS as [(typeof ROOMS)[number], (typeof ROOMS)[number]]
const FILE = `${lua.paths[0]}/a.lua`
const mutants = mutantsOf(FILE, 'local a = b < c\nlocal d = 7\n') as [Mutant, Mutant, Mutant]
const result = (given: Partial<SampleResult>): SampleResult => {
  return { room: lua, noticed: 20, lost: [], survived: 0, explained: 0, gone: 0, left: 0, broken: [], ...given }
}

describe('drawSample', () => {
  it('keeps what other rooms had, and what was noticed by which test or survived', () => {
    const file = join(tree({ 'sample.json': '' }), 'drawn.json')
    const kernel = mutantsOf(`${kernels.paths[0]}/a.ts`, 'const a = 7')[0] as Mutant
    drawSample(file, [{ mutant: kernel, status: 'killed' }], () => ({ test: 'k.test.ts' }))
    const statuses = ['killed', 'survived', 'timeout'] as const
    const tried = mutants.map((mutant, index) => ({ mutant, status: statuses[index] as 'killed' }))
    drawSample(file, tried, (mutant) => (mutant === mutants[0] ? { test: 'l.test.ts', name: 'l > once' } : undefined))
    expect(readSample(file).map(({ test, name }) => [test, name])).toEqual([
      ['k.test.ts', undefined],
      ['l.test.ts', 'l > once'],
      [undefined, undefined],
    ])
    expect(readSample(file).map(sampledKey)).toEqual([kernel, mutants[0], mutants[1]].map(keyOf))
    drawSample(file, [{ mutant: mutants[0], status: 'survived' }], () => undefined)
    expect(readSample(file)).toHaveLength(2)
  })
})

describe('judge', () => {
  const lost = [{ file: FILE, code: 'local d = 7', from: '7', to: '8', test: 'l.test.ts' }]

  it('is well where nothing is lost and a room may be at its goal', () => {
    expect(judge([result({}), result({ room: kernels, noticed: 18, survived: 2, left: 3 })])).toMatchObject({ ok: true })
    expect(judge([result({ noticed: 15, survived: 5 })]).text).toContain('Lua: 15 of 20 noticed, 75.0 % of at least 85 %')
  })

  it('is not with one that was noticed and survives', () => {
    const { ok, text } = judge([result({ lost })])
    expect(ok).toBe(false)
    expect(text).toContain('local d = 7  [7 -> 8]: l.test.ts does not notice it any more')
  })

  it('is not where so few are unlikely, or most of the sample is gone', () => {
    expect(judge([result({ noticed: 11, survived: 9 })]).ok).toBe(false)
    expect(judge([result({ noticed: 11, survived: 0, gone: 9 })]).ok).toBe(false)
    expect(judge([result({ noticed: 0 })]).ok).toBe(true)
  })

  it('is not where a test fails without any change, for it would notice everything', () => {
    const { ok, text } = judge([result({ noticed: 0, broken: ['l.test.ts'] })])
    expect([ok, text]).toEqual([false, expect.stringContaining('l.test.ts fails without any change')])
  })

  it('is not where there was no time for a single one', () => {
    const { ok, text } = judge([result({ noticed: 0, left: 20 })])
    expect([ok, text]).toEqual([false, expect.stringContaining('none of the mutants that were noticed was tried')])
    expect(judge([result({ noticed: 1, left: 19 })]).ok).toBe(true)
  })

  it('knows how likely a number is', () => {
    expect(atMost(1, 2, 0.5)).toBeCloseTo(0.75)
    expect(atMost(2, 2, 0.5)).toBeCloseTo(1)
    expect(atMost(0, 3, 0.9)).toBeCloseTo(0.001)
  })
})
