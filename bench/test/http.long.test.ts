import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ContestantAnswer } from '../src/http/web-table.ts'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

const [COMMON, WAIT] = [['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'], 'retry-after']

it('http: every contestant answers as its load demands, with comparable fields, and over-grants nothing beyond its promise', async () => {
  const results = folder()
  const { code, err } = await bench(['http', '--only', 'node,express,fastify,hono', '--seconds', '0.05', '--results', results])
  expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:http \w+: |written: ).*\n)+$/)])
  const { parts } = JSON.parse(readFileSync(join(results, 'http.json'), 'utf8')) as SuiteResults
  expect(parts.map(({ name, tables }) => [name, tables[0]?.rows.length])).toEqual([
    ['node', 1 + 2 * 3],
    ['express', 1 + 2 * 5],
    ['fastify', 1 + 2 * 4],
    ['hono', 1 + 2 * 4],
  ])
  expect(parts[0]?.readings.map(({ name }) => name)).toEqual(['default headers', 'headers off', 'answered with 429'])
  for (const row of parts.flatMap(({ tables }) => tables[0]?.rows ?? [])) {
    if (!('overGrant' in row)) continue
    expect([row.name, row.wrongAnswers]).toEqual([row.name, 0])
    if (row.kind !== 'baseline') expect([row.name, row.overGrant]).toEqual([row.name, 0])
  }
  for (const { name, load, status, fields } of parts.flatMap(({ figures }) => figures as ContestantAnswer[])) {
    const names = fields.map(([field]) => field.toLowerCase())
    expect([name, load]).toEqual([name, `answered with ${status}`])
    // The default fields have the common ones, too.
    for (const field of COMMON) expect([name, names]).toEqual([name, expect.arrayContaining([field])])
    expect([name, names.includes(WAIT)]).toEqual([name, status === 429])
  }
}, 300_000)
