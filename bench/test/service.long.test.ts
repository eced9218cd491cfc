import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProxy, findRedis } from '@sluice/scripts/engines'
import { expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { isWrong } from '../src/result/table.ts'
import { bench, folder } from './run-bench.ts'

it.skipIf('missing' in findProxy('nginx'))(
  'service proxies: nothing is let through or refused that should not be',
  async () => {
    const results = folder()
    const { code } = await bench(['service', '--only', 'proxies', '--seconds', '0.05', '--results', results])
    expect(code).toBe(0)
    const { parts } = JSON.parse(readFileSync(join(results, 'service.json'), 'utf8')) as SuiteResults
    const rows = parts[0]?.tables[0]?.rows ?? []
    expect(rows.map(({ load, kind }) => [load, kind])).toEqual(
      ['allowed', 'refused'].flatMap((load) => ['floor', 'peer', 'ours', 'ours'].map((kind) => [load, kind])),
    )
    expect(rows.filter(isWrong)).toEqual([])
  },
  300_000,
)

it.skipIf('missing' in findRedis())(
  'service: no answer is wrong, one by one and in lists, of one process and of two',
  async () => {
    const results = folder()
    const { code } = await bench(['service', '--only', 'decisions,workers', '--seconds', '0.05', '--results', results])
    expect(code).toBe(0)
    const { parts } = JSON.parse(readFileSync(join(results, 'service.json'), 'utf8')) as SuiteResults
    expect(parts.map(({ name, readings, tables }) => [name, readings.length, tables[0]?.rows.length])).toEqual([
      ['decisions', 10, 8],
      ['workers', 0, 3],
    ])
    expect(parts.flatMap(({ tables }) => tables[0]?.rows ?? []).filter(isWrong)).toEqual([])
    expect(parts.flatMap(({ readings }) => readings.map(({ mark }) => mark))).not.toContain('wrong')
  },
  300_000,
)
