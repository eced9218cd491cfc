import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { bench, folder } from './run-bench.ts'

const { redis: url } = inject('engines')

describe('npm run bench', () => {
  it.skipIf(url === undefined)('measures, prints a table and writes the results', async () => {
    const json = join(folder(), 'results.json')
    const { code, out } = await bench(['seed-003', '--seconds', '0.2', '--json', json], { SLUICE_REDIS_URL: url })
    expect(code).toBe(0)
    expect(out.match(/^(?:Lua EVALSHA|Lua EVALSHA, as in the article|multi-command|WATCH\/MULTI\/EXEC|Sluice) .*%$/gm)).toHaveLength(10)
    const results = JSON.parse(readFileSync(json, 'utf8')) as { speed: { contestant: string; rounds: number[] }[] }
    expect(results).toMatchObject({ suite: 'seed-003', seconds: 0.2, server: 'given', machine: { node: process.versions.node } })
    expect(results.speed.map(({ rounds }) => rounds.length)).toEqual([5, 5, 5, 5, 5])
  })

  it('embedded: measures the parts that were requested, each figure with its goal, its mark and its baseline', async () => {
    const json = join(folder(), 'results.json')
    const { code, out } = await bench(['embedded', '--only', 'hot,http,size', '--seconds', '0.1', '--json', json])
    expect(code).toBe(0)
    expect(out).toMatch(/^checkSync \[all allowed, burst 10\^7\] .* x +<= 2 .* Map [\d.,]+ [nu]s +0\.00 %$/m)
    expect(out).toMatch(/^default headers \[all allowed, burst 10\^7\] .* us +<= 3 .* bare [\d.]+ us$/m)
    const results = JSON.parse(readFileSync(json, 'utf8')) as { parts: Record<string, { readings: { mark: string }[] }> }
    expect(results).toMatchObject({ suite: 'embedded', seconds: 0.1, machine: { node: process.versions.node } })
    expect(Object.keys(results.parts)).toEqual(['hot', 'http', 'size'])
    const marks = Object.values(results.parts).flatMap(({ readings }) => readings.map(({ mark }) => mark))
    expect(marks).toHaveLength(8 + 3 + 2)
    // How fast it is depends on the machine; that it is right does not.
    expect(marks).not.toContain('wrong')
    expect(marks).not.toContain('absent')
  }, 90_000)
})
