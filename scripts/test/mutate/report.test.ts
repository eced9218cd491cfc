import { describe, expect, it } from 'vitest'
import type { Mutant } from '../../src/mutate/mutants.ts'
import { type Explanation, reportOf, type Status, type Tried } from '../../src/mutate/report.ts'

const FILE = 'packages/sluice/src/stores/redis/lua/a.lua'
const mutant = (nth: number, file = FILE): Mutant => ({
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
const explained = (nth: number, file = FILE): Explanation => ({
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
  it('is well where a room reaches its goal and the others are explained', () => {
    const { ok, text, unexplained } = reportOf(tried('survived', ...killed, 'timeout', 'survived'), all, [
      explained(1),
      explained(20),
      explained(1, 'b.ts'),
    ])
    expect([ok, unexplained]).toEqual([true, []])
    expect(text).toMatch(/a\.lua +20 +17 +1 +2 +2 +90\.0\nLua +20/)
    expect(text).toContain('they are never equal')
  })

  it('says what each room has to reach, and counts nothing that is no program', () => {
    const kernel = { status: 'survived', mutant: mutant(1, 'packages/sluice/src/algorithms/a.ts') } as const
    const { ok, text } = reportOf([...tried(...killed, 'invalid'), kernel], all, [explained(1, kernel.mutant.file)])
    expect(ok).toBe(false)
    expect(text).toContain('kernels: - % noticed of at least 95 % (0.0 % with what is explained)\nLua: 100.0 % noticed of at least 85 %')
    expect(text).toMatch(/^Lua +17 +17/m)
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
    expect(text).toContain(`${FILE}:18:1: a < b  [< -> <=]`)
    expect(unexplained).toEqual([{ ...explained(18), why: '' }])
  })

  it('names explanations of what a test notices, and of what is not there', () => {
    const { ok, text } = reportOf(tried(...killed, 'survived'), all, [explained(1), explained(18), explained(99)])
    expect(ok).toBe(false)
    expect(text).toMatch(/is explained, but a test notices it[^]*is explained, but there is no such mutant/)
  })

  it('takes one reason for all that survives of a line, as long as something does', () => {
    const line: Explanation = { file: FILE, code: 'a < b', why: 'only an estimate, made exact afterwards' }
    const two = reportOf(tried('survived', ...killed, 'survived', 'timeout'), all, [line])
    expect([two.ok, two.unexplained]).toEqual([true, []])
    expect(reportOf(tried(...killed, 'killed', 'killed', 'killed'), all, [line]).text).toContain('nothing of it survives')
    expect(reportOf(tried(...killed), all, [{ ...line, code: 'b < a' }]).text).toContain('no such line')
  })
})
