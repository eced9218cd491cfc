import { expect, it } from 'vitest'
import type { GateOptions } from '../http/gate-options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Bench } from './adapter-bench.ts'

const KEY = 'one'
const key = (): string => KEY

/** The handler behind the adapter sends 200, and the clock does not move, so no token is refilled. */
export function countingCases<Request>({ adapter, limiter, serve }: Bench<Request>): void {
  const left = async (limits: Limiter): Promise<number | undefined> => (await limits.peek(KEY)).limits[0]?.remaining
  const fails = (): never => {
    throw new Error('of the application')
  }

  it("countWhen: 'failure' gives back what a success was charged, and the fields are those of the charge", async () => {
    const limits = limiter()
    const send = await serve({ limiter: limits, key, countWhen: 'failure' })
    for (let turn = 0; turn < 4; turn += 1) {
      const { status, headers } = await send()
      expect([status, headers['ratelimit']]).toEqual([200, '"default";r=1;t=60'])
      await expect.poll(() => left(limits)).toBe(2)
    }
  })

  it("countWhen: 'success' keeps what a success was charged, and a refused request is not settled", async () => {
    const limits = limiter()
    const send = await serve({ limiter: limits, key, countWhen: 'success' })
    for (const status of [200, 200, 429, 429]) expect((await send()).status).toBe(status)
    expect(await left(limits)).toBe(0)
  })

  it('actualCost settles the estimate with what was used; a later request finds the rest', async () => {
    const limits = limiter()
    const used = [0, 1, 2]
    const send = await serve({ limiter: limits, key, cost: 2, actualCost: async () => used.shift() })
    for (const remaining of [2, 1]) {
      expect((await send()).headers['ratelimit-remaining']).toBe('0')
      await expect.poll(() => left(limits)).toBe(remaining)
    }
    expect((await send()).status).toBe(429)
    expect(used).toEqual([2])
  })

  it.each([
    ['countWhen fails', { countWhen: fails }, 'countWhen failed with "of the application"'],
    ['actualCost fails', { actualCost: () => Promise.reject(new Error('later')) }, 'actualCost failed with "later"'],
    ['countWhen returns a text', { countWhen: () => 'no' as never }, 'what countWhen returned is "no", expected true or false'],
    ['actualCost is negative', { actualCost: () => -1 }, 'what actualCost returned is -1, expected a number of at least 0'],
    ['actualCost is not exact', { actualCost: () => 0.123_456_789 }, 'the actual cost is 0.123456789, expected a number'],
  ] as [string, GateOptions<Request>, string][])(
    '%s: a warning with a code, and the cost stays charged',
    async (_what, options, message) => {
      const limits = limiter()
      const warnings: string[] = []
      const send = await serve({ limiter: limits, key, ...options, onWarning: (warning) => void warnings.push(warning) })
      expect((await send()).status).toBe(200)
      await expect.poll(() => warnings).toHaveLength(1)
      expect(warnings[0]).toMatch(/^NOT_SETTLED: .*; what the request has reserved stays charged$/)
      expect(warnings[0]).toContain(message)
      expect([await left(limits), (await send()).status, (await send()).status]).toEqual([1, 200, 429])
    },
  )

  it.each([
    [{ countWhen: 'failed' }, `countWhen is "failed", expected 'success', 'failure', or a function of the response`],
    [{ actualCost: 5 }, 'actualCost is 5, expected a function'],
    [{ countWhen: 'failure', holdMs: 0 }, 'holdMs is 0, expected a number of milliseconds above 0'],
    [{ holdMs: 5 }, 'holdMs is for countWhen or actualCost'],
    [{ countWhen: 'failure', onDenied: 'wait' }, "countWhen needs a reservation, which cannot wait; leave out onDenied: 'wait'"],
  ])('refuses %j when it is made', async (options, message) => {
    await expect(adapter.serve({ limiter: limiter(), ...options } as GateOptions<Request>)).rejects.toThrow(message)
  })
}
