import { expect, it } from 'vitest'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import type { GateOptions } from '../http/gate-options.ts'
import { type Bench, statuses } from './adapter-bench.ts'
import type { HttpRequest } from './send-http.ts'

const PLAN = 'x-plan'

export function limitCases<Request>({ adapter, limiter, serve }: Bench<Request>): void {
  const plans = { free: tokenBucket({ rate: '1/min', burst: 1 }), pro: tokenBucket({ rate: '1/min', burst: 4 }) }
  const as = (plan: string): HttpRequest => ({ headers: { [PLAN]: plan } })

  it.each([
    ['at once', <T>(value: T): T => value],
    ['later', async <T>(value: T): Promise<T> => value],
  ])('takes the limit from the request, %s; a caller that changes it gets no tokens by that', async (_when, given) => {
    const limit: GateOptions<Request>['limit'] = (request) =>
      given(adapter.header(request, PLAN) === 'pro' ? plans.pro : plans.free) as never
    const send = await serve({ limiter: limiter(), key: () => 'one', limit })
    expect((await send(as('pro'))).headers).toMatchObject({ 'ratelimit-policy': '"default";q=4;w=240', ratelimit: '"default";r=3;t=60' })
    expect((await send(as('free'))).headers).toMatchObject({ 'ratelimit-policy': '"default";q=1;w=60', ratelimit: '"default";r=0;t=60' })
    expect(await statuses(send, ['free', 'pro', 'free', 'pro'].map(as))).toEqual([429, 429, 429, 429])
  })

  it('a function that returns no limit is an error, and nothing passes', async () => {
    const limit = (() => undefined) as never
    const answer = await (await serve({ limiter: limiter(), limit }))()
    expect([answer.status, answer.text.includes('hello')]).toEqual([500, false])
  })

  it('groups IPv6 by the prefix', async () => {
    const send = await serve({ limiter: limiter(), trustedProxies: ['loopback'], ipv6Prefix: 48 })
    const from = (forwarded: string): HttpRequest => ({ headers: { 'x-forwarded-for': forwarded } })
    const addresses = ['2001:db8:1:1::1', '2001:db8:1:2::1', '2001:db8:1:3::1', '2001:db8:2:1::1']
    expect(await statuses(send, addresses.map(from))).toEqual([200, 200, 429, 200])
  })

  it('sends the exact wait as Retry-After if it is not to be spread', async () => {
    const send = await serve({ limiter: limiter(), retryAfterJitter: false, key: (request) => adapter.header(request, PLAN) ?? 'nobody' })
    const waits: unknown[] = []
    for (const plan of ['a', 'b', 'c', 'd']) {
      await statuses(send, [as(plan), as(plan)])
      waits.push((await send(as(plan))).headers['retry-after'])
    }
    expect(waits).toEqual(['60', '60', '60', '60'])
  })

  it.each([
    [{ limit: tokenBucket({ rate: '1/s', burst: 1 }) }, 'expected a function of the request'],
    [{ ipv6Prefix: 16 }, 'ipv6Prefix is 16, expected a whole number from 32 to 128'],
    [{ retryAfterJitter: 'no' }, 'retryAfterJitter is "no", expected true or false'],
  ])('refuses %j when it is made', async (options, message) => {
    await expect(adapter.serve({ limiter: limiter(), ...options } as GateOptions<Request>)).rejects.toThrow(message)
  })
}
