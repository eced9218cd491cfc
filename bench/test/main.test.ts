import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compareFolders } from '../src/compare-folders.ts'
import type { Row } from '../src/result/table.ts'
import { writeResults } from '../src/results.ts'
import { partOf } from './part-results.ts'
import { bench, folder } from './run-bench.ts'

/** In this process: starting the command takes longer. */
const compare = (before: string, after: string) => compareFolders([before, after], ['redis', 'memory'])

describe('npm run bench', () => {
  it('lists the suites and exits with 3 where it does not understand', async () => {
    const { code, out, err } = await bench(['seed-003', '--fast'])
    expect([code, out]).toEqual([3, ''])
    expect(err).toContain('  seed-003    ')
  })

  it('compares two runs: rows that are further apart than their spreads keep their order', () => {
    const [one, other] = [folder(), folder()]
    const row = (name: string, low: number, high: number) => {
      return { name, kind: 'peer', cells: { time: { low, median: (low + high) / 2, high } }, overGrant: 0 } as const
    }
    const write = (into: string, rows: readonly Row[]) => {
      const table = { name: 'lanes', title: 'all', columns: [], rows, rank: { column: 'time', best: 'least' } } as const
      const part = { ...partOf('hot'), tables: [table] }
      writeResults(into, { format: 1, suite: 'redis', title: 'Redis', parts: [part] }, ['hot'])
    }
    write(one, [row('a', 1, 1.4), row('b', 3, 4), row('c', 3.5, 5)])
    write(other, [row('a', 1, 1.4), row('b', 4, 5), row('c', 3, 4.5)])
    expect(compare(one, other)).toMatchObject({ code: 0, out: expect.stringContaining('2 of 3 pairs'), err: '' })
    write(other, [row('a', 8, 8.4), row('b', 4, 5), row('c', 3, 4.5)])
    expect(compare(one, other)).toMatchObject({ code: 1, out: expect.stringContaining('SWAPPED in redis hot lanes: a and b') })
  })

  it('compares nothing where there are no results, or a file that is not', () => {
    const [one, other] = [folder(), folder()]
    const nothing = `${one}: there are no results\n${other}: there are no results`
    expect(compare(one, other)).toEqual({ code: 3, out: '', err: nothing })
    for (const into of [one, other]) writeResults(into, { format: 1, suite: 'redis', title: 'Redis', parts: [partOf('hot')] }, ['hot'])
    expect(compare(one, other)).toMatchObject({ code: 3, err: expect.stringContaining('nothing was compared') })
    const broken = join(other, 'memory.json')
    writeFileSync(broken, '{')
    expect(compare(one, other)).toEqual({ code: 3, out: '', err: `not read: ${broken}: it is not valid JSON` })
  })
})
