import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRedis } from '@sluice/scripts/engines'
import { expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

/** It starts many processes and a cluster: nothing else may run meanwhile. */
it.skipIf('missing' in findRedis())(
  'scale: processes, nodes, keys, rules and limits, nobody refused, nothing too many, and nothing left behind',
  async () => {
    const temporary = folder()
    const args = ['scale', '--quick', '--seconds', '0.1', '--results', join(temporary, 'results')]
    const { code, err } = await bench(args, { TMPDIR: temporary })
    expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:scale (?:processes|shards|costs): |written: ).*\n)+$/)])
    const { parts } = JSON.parse(readFileSync(join(temporary, 'results', 'scale.json'), 'utf8')) as SuiteResults
    expect(parts.map(({ name, tables }) => [name, tables.map((table) => table.name)])).toEqual([
      ['processes', ['hot']],
      ['shards', ['speed', 'nodes']],
      ['costs', ['keys', 'rules', 'limits']],
    ])
    for (const { rows, title } of parts.flatMap(({ tables }) => tables))
      for (const row of rows) {
        if (!('overGrant' in row)) continue
        const { name, load, overGrant, wrongAnswers } = row
        // On a busy machine the calls of an audit may be late, which its row says; too many pass on none.
        const over =
          typeof overGrant === 'number' ? overGrant : expect.objectContaining({ notAudited: expect.stringContaining('undecided') })
        expect([title, name, load, overGrant, wrongAnswers]).toEqual([title, name, load, over === overGrant ? 0 : over, 0])
      }
    expect(readdirSync(temporary)).toEqual(['results'])
  },
  240_000,
)
