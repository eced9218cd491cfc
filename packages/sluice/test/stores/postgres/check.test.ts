import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLimiter, tokenBucket } from '../../../src/index.ts'
import { audit, type TraceEntry } from '../../../src/testing.ts'
import { ownStore } from '../../conformance/postgres-rows.ts'

const { postgres: url } = inject('engines')

interface Said {
  readonly outcome: string
  readonly remaining: number
  readonly wait: number | null
}

describe.skipIf(url === undefined)('sluice_check', () => {
  const { store, pool, open, close } = ownStore(url, 4)
  beforeAll(open)
  afterAll(close)

  const check = async (key: string, [tokens, period, burst]: readonly [number, string, number], cost = '1'): Promise<Said> => {
    const { rows } = await pool.query<Said>(
      'select outcome, remaining::int, retry_after_ms::int as wait from sluice_check($1, $2, $3, $4, $5::interval, $6, $7::numeric)',
      ['the api', 'per-user', key, tokens, period, burst, cost],
    )
    return rows[0] as Said
  }
  const limiterOf = (rate: string, burst: number) =>
    createLimiter({ name: 'the api', limits: { 'per-user': tokenBucket({ rate, burst }) }, store, deadlineMs: 20_000 })

  it.each(['plain', 'user:1', 'with blank', 'ümlaut', '🙂', 'a%b{c}', 'x'.repeat(201), 'é'.repeat(41)])(
    'shares its state with a limiter of the same name: %s',
    async (key) => {
      const limiter = limiterOf('3/day', 5)
      expect((await limiter.check(key)).limits[0]?.remaining).toBe(4)
      expect(await check(key, [3, '1 day', 5])).toEqual({ outcome: 'allowed', remaining: 3, wait: null })
      expect(await limiter.check(key, { cost: 1.5 })).toMatchObject({ allowed: true, limits: [{ remaining: 1 }] })
      expect(await check(key, [3, '1 day', 5], '1.5')).toEqual({ outcome: 'allowed', remaining: 0, wait: null })
      const denied = await check(key, [3, '1 day', 5])
      const looked = await limiter.check(key)
      expect([denied.outcome, denied.remaining, looked.allowed]).toEqual(['denied', 0, false])
      expect(Math.abs((denied.wait as number) - (looked.retryAfterMs as number))).toBeLessThan(20_000)
    },
  )

  it('says what is impossible, what is blocked, and what another plan has left', async () => {
    const limiter = limiterOf('3/day', 5)
    expect(await check('big', [3, '1 day', 5], '6')).toEqual({ outcome: 'impossible', remaining: 5, wait: null })
    await check('changed', [3, '1 day', 5])
    expect(await check('changed', [30, '1 day', 50], '4')).toEqual({ outcome: 'allowed', remaining: 0, wait: null })
    await limiter.block('blocked', '60s')
    const blocked = await check('blocked', [3, '1 day', 5])
    expect([blocked.outcome, blocked.remaining]).toEqual(['denied', 0])
    expect(blocked.wait).toBeGreaterThan(30_000)
    expect(blocked.wait).toBeLessThanOrEqual(60_000)
  })

  it('waiting as long as it says is enough, and eight callers at once are admitted no more than the limit', async () => {
    const plan = [50, '1 second', 4] as const
    const seen: TraceEntry[] = []
    const caller = async (): Promise<void> => {
      for (let turn = 0; turn < 25; turn += 1) {
        const { rows } = await pool.query<{ outcome: string; at: number }>(
          `select outcome, (extract(epoch from clock_timestamp()) * 1000000)::float8 as at from sluice_check('the api', 'many', 'k', 50, '1 second', 4)`,
        )
        seen.push({ at: Math.floor(rows[0]?.at ?? Number.NaN), cost: 1, allowed: rows[0]?.outcome === 'allowed' })
      }
    }
    const began = performance.now()
    await Promise.all(Array.from({ length: 8 }, caller))
    // The instants of the answers are not used here: a process of the server may pause between a decision and its reading of the clock.
    const span = (performance.now() - began) / 1e3
    expect(seen.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(4 + 50 * span)
    expect(audit(seen, tokenBucket({ rate: '50/s', burst: 12 })).overGrant).toBe(0)
    let said = await check('wait', plan)
    while (said.outcome === 'allowed') said = await check('wait', plan)
    await pool.query('select pg_sleep($1::float8 / 1000)', [said.wait])
    expect((await check('wait', plan)).outcome).toBe('allowed')
  })

  it.each([
    [[0, '1 day', 5], '1', 'tokens 0'],
    [[3, '0 seconds', 5], '1', 'a period above 0'],
    [[3, '1 day', 0], '1', 'burst 0'],
    [[1, '1 day', 9_007_199_254], '1', 'within a hundred years'],
    [[3, '1 day', 5], '0', 'cost is 0'],
    [[3, '1 day', 5], '0.0000001', 'six decimals'],
  ] as const)('refuses %j at cost %s', async (plan, cost, line) => {
    await expect(check('bad', plan, cost)).rejects.toMatchObject({ code: '22023', message: expect.stringContaining(line) })
  })

  it('refuses an empty key', async () => {
    await expect(check('', [3, '1 day', 5])).rejects.toMatchObject({
      code: '22023',
      message: expect.stringContaining('a key is not empty'),
    })
  })
})
