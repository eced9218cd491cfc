import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRedis } from '@sluice/scripts/engines'
import { describe, expect, it } from 'vitest'
import type { SuiteResults } from '../src/result/suite-result.ts'
import { bench, folder } from './run-bench.ts'

/** It starts a process for each lane, and audits what each lets through: nothing else may run meanwhile. */
describe('npm run bench -- redis', () => {
  it.skipIf('missing' in findRedis())(
    'redis: measures the parts that were requested on a server of its own, names what is missing, and leaves nothing behind',
    async () => {
      const temporary = folder()
      const json = join(temporary, 'results', 'redis.json')
      const env = { SLUICE_REDIS_URL: 'redis://127.0.0.1:1', TMPDIR: temporary }
      const { code, out, err } = await bench(
        ['redis', '--only', 'denied,redis-time,cluster', '--seconds', '0.1', '--results', join(temporary, 'results')],
        env,
      )
      // What went wrong is in the message then.
      expect([code, err]).toEqual([0, expect.stringMatching(/^(?:(?:redis (?:redis-time|denied|cluster): |written: ).*\n)+$/)])
      expect(out).toMatch(/^bare \[denied flood\] .* x .* Lua EVALSHA [\d.]+ us +0\.00 %$/m)
      expect(out).toMatch(/^16 different keys in a call \[against one EVALSHA each\] .* x +<= 0\.78 /m)
      expect(out).toMatch(/^bare, 1 caller +\d\.\d{3} calls /m)
      const results = JSON.parse(readFileSync(json, 'utf8')) as SuiteResults
      expect(results).toMatchObject({ suite: 'redis', parts: [{ seconds: 0.1, machine: { node: process.versions.node } }, {}, {}] })
      expect(results.parts.map(({ name }) => name)).toEqual(['redis-time', 'denied', 'cluster'])
      const marks = results.parts.flatMap(({ readings }) => readings.map(({ mark }) => mark))
      expect(marks).toHaveLength(5 + 5 + 6)
      expect(marks).not.toContain('wrong')
      expect(readdirSync(temporary)).toEqual(['results'])
    },
    90_000,
  )
})
