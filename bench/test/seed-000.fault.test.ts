import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPostgres, findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

/** It starts a process for each way, and some for the loads: nothing else may run meanwhile. */
describe.skipIf('missing' in findRedis() || 'missing' in findPostgres())('npm run bench -- seed-000', () => {
  it('measures every part with every way, over-grants nothing of ours, and leaves nothing behind', async () => {
    const temporary = folder()
    // PostgreSQL runs under a user of its own where this is root, and must reach its folder.
    chmodSync(temporary, 0o755)
    const args = ['seed-000', '--quick', '--seconds', '0.1', '--results', join(temporary, 'results')]
    const { code, err } = await bench(args, { TMPDIR: temporary })
    expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:seed-000 \S+: |written: ).*\n)+$/)])
    const { parts } = JSON.parse(readFileSync(join(temporary, 'results', 'seed-000.json'), 'utf8')) as SuiteResults
    expect(parts.map(({ name }) => name)).toEqual(['comparison', 'drift', 'latency', 'logs', 'ceiling'])
    for (const { name, tables } of parts) {
      for (const { rows } of tables) {
        for (const row of rows) {
          if (row.kind !== 'ours') continue
          // In a tenth of a second a limit may not bite, which its row says; too many pass on none.
          const over = typeof row.overGrant === 'number' ? row.overGrant : row.overGrant.notAudited
          expect([name, row.name, over]).toEqual([name, row.name, typeof over === 'number' ? 0 : expect.stringContaining('decided')])
        }
        for (const row of rows) if (row.kind === 'ours') expect([name, row.name, row.wrongAnswers ?? 0]).toEqual([name, row.name, 0])
      }
      expect([name, tables.some(({ rows }) => rows.some(({ kind }) => kind === 'quoted'))]).toEqual([name, true])
      expect([name, tables.some(({ rows }) => rows.some(({ kind }) => kind === 'ours'))]).toEqual([name, true])
    }
    expect(readdirSync(temporary)).toEqual(['results'])
  }, 600_000)
})
