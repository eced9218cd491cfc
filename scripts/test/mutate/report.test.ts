import { describe, expect, it } from 'vitest'
import type { Mutant } from '../../src/mutate/mutants.ts'
import { type Explanation, reportOf, type Status, type Tried } from '../../src/mutate/report.ts'

const mutant = (nth: number, file = 'a.ts'): Mutant => ({
  file,
  line: nth,
  column: 1,
  start: 0,
  end: 1,
  code: 'a < b',
  from: '<',
  to: '<=',
  nth,
})
const tried = (...statuses: readonly Status[]): Tried[] => statuses.map((status, index) => ({ status, mutant: mutant(index + 1) }))
const explained = (nth: number, file = 'a.ts'): Explanation => ({
  file,
  code: 'a < b',
  from: '<',
  to: '<=',
  nth,
  why: 'they are never equal',
})
const killed = Array.from({ length: 17 }, (): Status => 'killed')
const all = Array.from({ length: 20 }, (_, index) => mutant(index + 1))

describe('reportOf', () => {
  it('is well with 85 % noticed and the others explained', () => {
    const { ok, text, unexplained } = reportOf(tried('survived', ...killed, 'timeout', 'survived'), all, [
      explained(1),
      explained(20),
      explained(1, 'b.ts'),
    ])
    expect([ok, unexplained]).toEqual([true, []])
    expect(text).toMatch(/a\.ts +20 +17 +1 +2 +2 +90\.0/)
    expect(text).toContain('they are never equal')
  })

  it('is not with less, whatever is explained', () => {
    const { ok } = reportOf(
      tried('survived', 'survived', 'survived', 'survived', 'killed'),
      all,
      [1, 2, 3, 4].map((nth) => explained(nth)),
    )
    expect(ok).toBe(false)
  })

  it('names survivors that nobody explained, in the form of an explanation', () => {
    const { ok, text, unexplained } = reportOf(tried(...killed, 'survived'), all, [])
    expect(ok).toBe(false)
    expect(text).toContain('a.ts:18:1: a < b  [< -> <=]')
    expect(unexplained).toEqual([{ ...explained(18), why: '' }])
  })

  it('names explanations of what a test notices, and of what is not there', () => {
    const { ok, text } = reportOf(tried(...killed, 'survived'), all, [explained(1), explained(18), explained(99)])
    expect(ok).toBe(false)
    expect(text).toMatch(/is explained, but a test notices it[^]*is explained, but there is no such mutant/)
  })

  it('takes one reason for all that survives of a line, as long as something does', () => {
    const line: Explanation = { file: 'a.ts', code: 'a < b', why: 'only an estimate, made exact afterwards' }
    const two = reportOf(tried('survived', ...killed, 'survived', 'timeout'), all, [line])
    expect([two.ok, two.unexplained]).toEqual([true, []])
    expect(reportOf(tried(...killed, 'killed', 'killed', 'killed'), all, [line]).text).toContain('nothing of it survives')
    expect(reportOf(tried(...killed), all, [{ ...line, code: 'b < a' }]).text).toContain('no such line')
  })
})
