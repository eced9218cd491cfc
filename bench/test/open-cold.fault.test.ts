import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPostgres, findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import type { OpenMeasured } from '../src/open/rounds.ts'
import type { ColdSample } from '../src/cold/sample.ts'
import { bench, folder } from './run-bench.ts'

const missing = 'missing' in findRedis() || 'missing' in findPostgres()
/** Servers of the run's own, whatever the environment says. */
const ELSEWHERE = { SLUICE_REDIS_URL: 'redis://127.0.0.1:1', SLUICE_POSTGRES_URL: 'postgres://127.0.0.1:1/none' }

/** PostgreSQL runs under a user of its own where this is root, and must reach its folder. */
function open(): string {
  const made = folder()
  chmodSync(made, 0o755)
  return made
}

/** They start a process for each way, and load both cores: nothing else may run meanwhile. */
describe.skipIf(missing)('npm run bench', () => {
  it('open: every way under every load, in order, refuses nobody, over-grants nothing, and leaves nothing behind', async () => {
    const temporary = open()
    const json = join(temporary, 'results', 'open.json')
    const args = ['open', '--only', 'redis,postgres-hot', '--seconds', '0.3', '--results', join(temporary, 'results')]
    const { code, out, err } = await bench(args, { ...ELSEWHERE, TMPDIR: temporary })
    expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:open (?:redis|postgres-hot): |written: ).*\n)+$/)])
    expect(out).toMatch(/^Sluice +90 % own /m)
    const { parts } = JSON.parse(readFileSync(json, 'utf8')) as { parts: { name: string; figures: OpenMeasured }[] }
    expect(parts.map(({ name }) => name)).toEqual(['redis', 'postgres-hot'])
    const [many, hot] = parts.map(({ figures }) => figures) as [OpenMeasured, OpenMeasured]
    expect(many.names).toEqual(['Lua EVALSHA', 'Sluice, bare', 'Sluice', 'rate-limiter-flexible', 'rate-limit-redis'])
    expect(hot.names).toEqual(['one prepared UPDATE', 'Sluice, bare', 'Sluice', 'rate-limiter-flexible'])
    // Five ways at two shares of the baseline's capacity, four at two of their own; four ways at two shares.
    expect([many.timed.length, hot.timed.length]).toEqual([18, 8])
    for (const { timed, metered, capacities } of [many, hot]) {
      for (const { rounds, perSecond } of timed) {
        expect(perSecond).toBeGreaterThan(0)
        expect(rounds).toHaveLength(3)
        // How long it takes depends on the machine; that nobody is refused does not.
        for (const { total, refused, allowed, undecided } of rounds) expect([refused, allowed + undecided]).toEqual([0, total])
      }
      for (const { allowed, permitted } of metered) expect(allowed).toBeLessThanOrEqual(permitted)
      expect(capacities.every((capacity) => capacity > 0)).toBe(true)
    }
    expect(readdirSync(temporary)).toEqual(['results'])
  }, 180_000)

  it('cold: processes of every way by turns, each with its imports, and nobody is refused', async () => {
    const temporary = open()
    const json = join(temporary, 'results', 'cold.json')
    const { code, out } = await bench(['cold', '--seconds', '0.1', '--results', join(temporary, 'results')], {
      ...ELSEWHERE,
      TMPDIR: temporary,
    })
    expect(code).toBe(0)
    expect(out).toMatch(/^Lua EVALSHA .* 1\.00 \(.* 1\.00 \(/m)
    expect(out).toMatch(/^one prepared UPDATE .* 1\.00 \(.* 1\.00 \(/m)
    const { parts } = JSON.parse(readFileSync(json, 'utf8')) as { parts: { name: string; figures: ColdSample[][] }[] }
    expect(parts.map(({ name, figures }) => [name, figures.length])).toEqual([
      ['redis', 5],
      ['postgres', 4],
    ])
    for (const samples of parts.flatMap(({ figures }) => figures)) {
      expect(samples).toHaveLength(5)
      for (const { refused, cpu } of samples) {
        expect(refused).toBe(0)
        for (const micros of Object.values(cpu)) expect(micros).toBeGreaterThan(0)
      }
    }
    expect(readdirSync(temporary)).toEqual(['results'])
  }, 180_000)
})
