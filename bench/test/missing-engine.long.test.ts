import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

describe('npm run bench', () => {
  it('measures and reports what needs no engine if one is missing, names what is missing, and exits with 2', async () => {
    const into = folder()
    const env = { SLUICE_NO_INSTALL: '1', PATH: '' }
    const args = ['seed-002', '--only', 'boundary,redis-lua', '--quick', '--seconds', '0.1', '--results', into]
    const { code, out, err } = await bench(args, env)
    expect([code, err]).toEqual([2, expect.stringContaining('seed-002 redis-lua: not measured: no Redis to measure: no redis-server')])
    expect(err).not.toMatch(/^ +at /m)
    expect(out).toContain('1 not measured: no Redis to measure: no redis-server')
    const { parts } = JSON.parse(readFileSync(join(into, 'seed-002.json'), 'utf8')) as SuiteResults
    expect(parts).toMatchObject([
      { name: 'boundary', tables: [{ name: 'boundary' }] },
      { name: 'redis-lua', readings: [{ name: 'redis-lua', mark: 'absent' }], tables: [] },
    ])
    expect(readFileSync(join(into, 'report.md'), 'utf8')).toContain('no Redis to measure')
    expect(readFileSync(join(into, 'report.html'), 'utf8')).toContain('<html')
  })
})
