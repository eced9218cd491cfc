import { expect, it } from 'vitest'
import { tokenBucket } from '../algorithms/token-bucket.ts'
import type { HeaderOptions } from '../policy/model/header-choice.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import { type Store, StoreFailure } from '../stores/store.ts'
import { type Bench, FIELDS, LEGACY, PROBLEM, QUOTA, sent, statuses } from './adapter-bench.ts'
import { type HttpRequest, oneConnection } from './send-http.ts'

export function answerCases<Request>({ limiter, serve, clock }: Bench<Request>): void {
  it('lets pass with headers, and leaves what the handler says', async () => {
    const send = await serve({ limiter: limiter() })
    for (const remaining of ['1', '0']) {
      const answer = await send()
      expect([answer.status, answer.text]).toEqual([200, 'hello'])
      expect(answer.headers).toMatchObject({
        'ratelimit-policy': '"default";q=2;w=120',
        ratelimit: `"default";r=${remaining};t=60`,
        'ratelimit-limit': '2',
        'ratelimit-remaining': remaining,
        'ratelimit-reset': '60',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': remaining,
        vary: 'Accept',
        'cache-control': 'max-age=60',
      })
      expect(sent(answer, ['retry-after', 'x-ratelimit-reset'])).toEqual([])
    }
  })

  it('denies with 429, a problem body and a Retry-After that is true', async () => {
    const send = await serve({ limiter: limiter() })
    await send()
    await send()
    const denied = await send()
    expect(denied.status).toBe(429)
    expect(denied.headers).toMatchObject({ 'cache-control': 'no-store', ratelimit: '"default";r=0;t=60' })
    expect(denied.headers['content-type']).toMatch(PROBLEM)
    expect(JSON.parse(denied.text)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      status: 429,
      detail: expect.stringContaining('default'),
      reason: 'quota',
      'violated-policies': ['default'],
    })
    const wait = Number(denied.headers['retry-after'])
    expect(wait).toBeGreaterThanOrEqual(60)
    expect(wait).toBeLessThanOrEqual(91)
    clock().advance(59_999)
    expect((await send()).status).toBe(429)
    clock().advance(wait * 1_000 - 59_999)
    expect((await send()).status).toBe(200)
  })

  it('names every limit, and reports single values of the one that denied', async () => {
    const limits = { wide: tokenBucket({ rate: '100/s', burst: 100 }), narrow: tokenBucket({ rate: '1/s', burst: 1 }) }
    const send = await serve({ limiter: limiter({ limits }) })
    expect((await send()).headers).toMatchObject({ ratelimit: '"wide";r=99;t=1, "narrow";r=0;t=1', 'ratelimit-limit': '1' })
    expect((await send()).headers).toMatchObject({
      ratelimit: '"wide";r=99;t=1, "narrow";r=0;t=1',
      'ratelimit-policy': '"wide";q=100;w=1, "narrow";q=1;w=1',
      'x-ratelimit-limit': '1',
    })
  })

  it('distinguishes a block from a used-up quota', async () => {
    const limited = limiter()
    const send = await serve({ limiter: limited, key: () => 'one' })
    await limited.block('one', '10min')
    const blocked = await send()
    expect(JSON.parse(blocked.text)).toMatchObject({ title: 'Abnormal Usage Detected', status: 429, reason: 'blocked' })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThanOrEqual(600)
    await limited.unblock('one')
    expect((await send()).status).toBe(200)
  })

  it.each([
    [{ dialect: 'draft-7' }, ['ratelimit', 'ratelimit-policy', ...LEGACY], { ratelimit: 'limit=2, remaining=1, reset=60' }],
    [{ dialect: 'draft-6' }, [...QUOTA.slice(1), ...LEGACY], { 'ratelimit-policy': '2;w=120' }],
    [{ dialect: 'off' }, [], {}],
    [{ dialect: 'off', legacy: 'delta' }, LEGACY, { 'x-ratelimit-reset': '60' }],
    [{ legacy: 'epoch' }, FIELDS, { 'x-ratelimit-reset': '1700000060' }],
  ] as [HeaderOptions, readonly string[], Record<string, string>][])('headers %j', async (headers, names, values) => {
    const send = await serve({ limiter: limiter(), headers })
    const answer = await send()
    expect(sent(answer, FIELDS)).toEqual(names)
    expect(answer.headers).toMatchObject(values)
    await send()
    const denied = await send()
    expect(sent(denied, FIELDS)).toEqual(names)
    expect([denied.status, sent(denied, ['retry-after'])]).toEqual([429, ['retry-after']])
  })

  it('keeps a connection that was denied before its body was read', async () => {
    const send = await serve({ limiter: limiter() })
    const agent = oneConnection()
    const post: HttpRequest = { method: 'POST', body: 'x'.repeat(300_000), agent }
    const answers = [await send(post), await send(post), await send(post), await send({ agent })]
    agent.destroy()
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429])
    expect(answers.map(({ reused }) => reused)).toEqual([false, true, true, true])
    expect(JSON.parse(answers[3]?.text ?? '')).toMatchObject({ status: 429 })
  })

  it('answers a HEAD like a GET, without a body, and counts every method', async () => {
    const send = await serve({ limiter: limiter() })
    const requests = ['HEAD', 'OPTIONS', 'POST'].map((method) => ({ method }))
    expect(await statuses(send, requests)).toEqual([200, 200, 429])
    const denied = await send({ method: 'HEAD' })
    expect([denied.status, denied.text]).toEqual([429, ''])
    expect(sent(denied, ['retry-after', 'ratelimit'])).toEqual(['retry-after', 'ratelimit'])
  })

  it('admits no more of many at once than the limit has', async () => {
    const send = await serve({ limiter: limiter({ limits: { ten: tokenBucket({ rate: '1/h', burst: 10 }) } }) })
    const answers = await Promise.all(Array.from({ length: 50 }, () => send()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  it.each([
    ['deny', 503],
    ['allow', 200],
  ] as const)('says what is not known: a store that fails, with %s, is %i and no quota', async (onStoreFailure, status) => {
    const send = await serve({ limiter: limiter({ store: broken(memoryStore({ clock: clock() })), onStoreFailure }) })
    const answer = await send()
    expect([answer.status, sent(answer, FIELDS)]).toEqual([status, []])
    if (status === 200) return
    expect(answer.headers).toMatchObject({ 'retry-after': expect.stringMatching(/^[12]$/), 'cache-control': 'no-store' })
    expect(answer.headers['content-type']).toMatch(PROBLEM)
    expect(JSON.parse(answer.text)).toMatchObject({ title: 'Temporary Reduced Capacity', status: 503 })
    expect(answer.text).not.toContain('the store of this test')
  })
}

function broken({ capabilities, decideNow: _none, ...store }: Store): Store {
  return {
    ...store,
    capabilities: { ...capabilities, sync: false },
    decide: () => Promise.reject(new StoreFailure('timeout', 'unknown', 'the store of this test is gone')),
  }
}
