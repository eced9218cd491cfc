import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { readResults, writeResults } from '../src/results.ts'
import { partOf } from './part-results.ts'
import { folder } from './run-bench.ts'

const suiteOf = (...parts: readonly string[]): SuiteResults => {
  return { format: 1, suite: 'redis', title: 'Redis', parts: parts.map(partOf) }
}

describe('a folder of results', () => {
  it('reports files that are not results of this format, and leaves them out', () => {
    const into = folder()
    writeResults(into, suiteOf('hot'), ['hot'])
    writeFileSync(join(into, 'broken.json'), '{')
    writeFileSync(join(into, 'later.json'), JSON.stringify({ format: 2, suite: 'memory', parts: [] }))
    writeFileSync(join(into, 'package.json'), '{ "name": "another" }')
    writeFileSync(join(into, 'null.json'), 'null')
    const lines: string[] = []
    expect(readResults(into, ['memory', 'redis'], (line) => lines.push(line))).toEqual([suiteOf('hot')])
    expect(lines.sort()).toEqual([
      `not read: ${join(into, 'broken.json')}: it is not valid JSON`,
      `not read: ${join(into, 'later.json')}: it has no results of format 1`,
      `not read: ${join(into, 'null.json')}: it has no results of format 1`,
      `not read: ${join(into, 'package.json')}: it has no results of format 1`,
    ])
  })

  it('keeps the earlier results of parts that are not measured, unless their file is broken', () => {
    const into = folder()
    const names = (): string[] => readResults(into, ['redis'])[0]?.parts.map(({ name }) => name) ?? []
    writeResults(into, suiteOf('hot', 'memory'), ['hot', 'memory'])
    writeResults(into, suiteOf('memory'), ['memory', 'hot'])
    expect(names()).toEqual(['memory', 'hot'])
    const file = join(into, 'redis.json')
    writeFileSync(file, readFileSync(file, 'utf8').slice(0, -9))
    const lines: string[] = []
    writeResults(into, suiteOf('memory'), ['memory', 'hot'], (line) => lines.push(line))
    expect([names(), lines]).toEqual([['memory'], [`not read: ${file}: it is not valid JSON`]])
  })
})
