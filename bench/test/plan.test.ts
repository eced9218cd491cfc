import { describe, expect, it } from 'vitest'
import { overdue, plannedOf, plannedSeconds, planText } from '../src/plan.ts'
import type { Depth } from '../src/result/suite-result.ts'
import { SUITES } from '../src/suites/index.ts'
import { partOf } from './part-results.ts'

describe('the plan', () => {
  const sum = (depth: Depth): number => SUITES.reduce((all, suite) => all + plannedOf(suite, { depth }), 0)

  it('has seconds for every part, at most 8 minutes for a suite, 15 for a quick run and 51 for a full one', () => {
    for (const suite of SUITES)
      for (const depth of ['quick', 'full'] as const) {
        for (const { name } of suite.parts) expect(plannedSeconds(suite.name, name, depth)).toBeGreaterThan(0)
        expect(plannedOf(suite, { depth })).toBeLessThanOrEqual(8 * 60)
      }
    expect(sum('quick')).toBeLessThanOrEqual(15 * 60)
    expect(sum('full')).toBeLessThanOrEqual(51 * 60)
  })

  it('is of what a run measures: a quick one leaves out loads unless they are named', () => {
    const suites = SUITES.filter(({ name }) => name === 'open')
    const quick = planText({ suites, depth: 'quick' })
    expect([quick.includes('postgres-hot'), planText({ suites, depth: 'full' }).includes('postgres-hot')]).toEqual([false, true])
    expect(planText({ suites, depth: 'quick', parts: ['postgres-hot'] })).toContain('postgres-hot')
    expect(() => plannedSeconds('open', 'warm', 'quick')).toThrow('open warm')
  })

  it('says which parts took longer', () => {
    const planned = plannedSeconds('redis', 'hot', 'full')
    const took = (seconds: number) => ({ format: 1, suite: 'redis', title: '', parts: [{ ...partOf('hot'), took: seconds }] }) as const
    expect(overdue(took(planned))).toEqual([])
    expect(overdue(took(planned + 1))).toEqual([`redis hot took ${planned + 1} s, planned were ${planned} s`])
  })
})
