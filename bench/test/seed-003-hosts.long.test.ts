import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { isWrong } from '../src/result/table.ts'
import { runHosts } from '../src/seed-003/hosts-run.ts'
import type { Scenario } from '../src/seed-003/scenarios.ts'
import { bench, folder } from './run-bench.ts'

const { redis: url } = inject('engines')
const LOAD = { hosts: 4, perSecond: 200, rate: 100, burst: 10 }
const SKEWED: Scenario = { name: 'skew', skewMs: 1_000, driftMsPerSecond: 0, delayMs: 0, quick: true }

describe.skipIf(url === undefined)('seed-003: the wrong variants are wrong', () => {
  it('skewed clocks: client time over-grants, with ts = now most; server time neither over-grants nor denies wrongly', async () => {
    const ways = ['lua-article', 'lua-last-time', 'lua-server-time', 'sluice'] as const
    let [worse, worst] = [0, 0]
    // While the machine does other work, a short run may have too few calls to show what is wrong.
    for (let seconds = 1; seconds <= 16 && !(worst > worse && worse > 0); seconds *= 2) {
      const [latest, last, server, ours] = await runHosts({ url: url ?? '', ways, seconds, scenario: SKEWED, load: LOAD })
      ;[worse, worst] = [latest?.overGrantPercent ?? Number.NaN, last?.overGrantPercent ?? Number.NaN]
      expect(server).toMatchObject({ overGrantPercent: 0, falseDenials: 0, errors: 0 })
      expect(ours).toMatchObject({ overGrantPercent: 0, falseDenials: 0 })
    }
    expect(worse).toBeGreaterThan(0)
    expect(worst).toBeGreaterThan(worse)
  })

  it('timestamps that overtake each other: ts = now over-grants, and math.max does not; wrong in the tables', async () => {
    const results = folder()
    const { code } = await bench(['seed-003', '--only', 'lessons', '--quick', '--seconds', '0.5', '--results', results])
    expect(code).toBe(0)
    const { parts } = JSON.parse(readFileSync(join(results, 'seed-003.json'), 'utf8')) as SuiteResults
    const tables = parts.flatMap((part) => part.tables)
    const wrong = (name: string) =>
      tables
        .find((table) => table.name === name)
        ?.rows.filter(isWrong)
        .map((row) => row.name)
    expect(wrong('timestamp-regression')).toEqual(['Lua EVALSHA, ts = now'])
    expect(wrong('write-back')).toContain('multi-command, writes only when allowed')
    expect(wrong('watch-retries')).toEqual([])
  }, 240_000)
})
