import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

const SEED_003 = ['contention', 'over-grant', 'bottom-line', 'clocks', 'lessons']

describe('npm run bench', () => {
  it.skipIf('missing' in findRedis())(
    'measures on a server of its own, prints tables, and writes results and report',
    async () => {
      const results = folder()
      const { code, out } = await bench(['seed-003', '--quick', '--seconds', '0.1', '--results', results])
      expect(code).toBe(0)
      for (const name of ['Lua EVALSHA, as in the article', 'MultiCmd in the article', 'WATCH/MULTI/EXEC', 'Sluice'])
        expect(out).toMatch(new RegExp(`^${name} `, 'm'))
      const written = JSON.parse(readFileSync(join(results, 'seed-003.json'), 'utf8')) as SuiteResults
      expect(written).toMatchObject({ suite: 'seed-003', parts: SEED_003.map((name) => ({ name, seconds: 0.1 })) })
      expect(readdirSync(results).toSorted()).toEqual(['report.html', 'report.md', 'seed-003.json'])
    },
    240_000,
  )

  it('memory: measures the parts that were requested, each figure with its goal, its mark and its baseline', async () => {
    const results = folder()
    const { code, out } = await bench(['memory', '--only', 'hot,size', '--seconds', '0.1', '--results', results])
    expect(code).toBe(0)
    expect(out).toMatch(/^checkSync \[all allowed, burst 10\^7\] .* x +<= 2 .* Map [\d.,]+ [nu]s +0\.00 %$/m)
    const written = JSON.parse(readFileSync(join(results, 'memory.json'), 'utf8')) as SuiteResults
    expect(written).toMatchObject({ suite: 'memory', parts: [{ name: 'hot', seconds: 0.1 }, { name: 'size' }] })
    const marks = written.parts.flatMap(({ readings }) => readings.map(({ mark }) => mark))
    expect(marks).toHaveLength(8 + 2)
    // How fast it is depends on the machine; that it is right does not.
    expect(marks).not.toContain('wrong')
    expect(marks).not.toContain('absent')
  }, 90_000)
})
