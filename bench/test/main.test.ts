import { describe, expect, it } from 'vitest'
import { bench } from './run-bench.ts'

describe('npm run bench', () => {
  it('lists the suites and exits with 3 where it does not understand', async () => {
    const { code, out, err } = await bench(['seed-003', '--fast'])
    expect([code, out]).toEqual([3, ''])
    expect(err).toContain('  seed-003    ')
  })

  it('says in one line that there is no Redis and exits with 2', async () => {
    const { code, out, err } = await bench(['seed-003'], { SLUICE_REDIS_URL: 'redis://127.0.0.1:1' })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^no Redis to measure: the Redis of SLUICE_REDIS_URL does not answer: .*ECONNREFUSED.*\n$/)
  })
})
