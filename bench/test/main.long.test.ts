import { describe, expect, it } from 'vitest'
import type { Row } from '../src/result/table.ts'
import { writeResults } from '../src/results.ts'
import { partOf } from './part-results.ts'
import { bench, folder } from './run-bench.ts'

describe('npm run bench compare', () => {
  it('ends with what it found', async () => {
    const [one, other] = [folder(), folder()]
    const write = (into: string, times: Readonly<Record<string, number>>) => {
      const rows = Object.entries(times).map(([name, at]): Row => {
        return { name, kind: 'peer', cells: { time: { low: at, median: at + 0.2, high: at + 0.4 } }, overGrant: 0 }
      })
      const table = { name: 'lanes', title: 'all', columns: [], rows, rank: { column: 'time', best: 'least' } } as const
      writeResults(into, { format: 1, suite: 'redis', title: 'Redis', parts: [{ ...partOf('hot'), tables: [table] }] }, ['hot'])
    }
    const nothing = `${one}: there are no results\n${other}: there are no results\n`
    expect(await bench(['compare', one, other])).toEqual({ code: 3, out: '', err: nothing })
    write(one, { a: 1, b: 4 })
    write(other, { a: 1, b: 5 })
    expect(await bench(['compare', one, other])).toMatchObject({ code: 0, out: expect.stringContaining('1 of 1 pairs'), err: '' })
    write(other, { a: 8, b: 4 })
    expect(await bench(['compare', one, other])).toMatchObject({
      code: 1,
      out: expect.stringContaining('SWAPPED in redis hot lanes: a and b'),
    })
  })
})
