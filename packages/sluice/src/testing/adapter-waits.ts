import { connect } from 'node:net'
import { expect, it } from 'vitest'
import type { GateOptions } from '../http/gate-options.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { Bench } from './adapter-bench.ts'
import type { HttpAnswer } from './send-http.ts'

const MINUTE_MS = 60_000

/** Resolves when a peek states a wait for this many tokens (one a minute): those of the waiting requests, and one for the peek. */
async function missing(limiter: Limiter, tokens: number): Promise<void> {
  await expect.poll(async () => (await limiter.peek('all')).retryAfterMs, { interval: 5 }).toBe(tokens * MINUTE_MS)
}

export function waitCases<Request>({ adapter, clock, limiter, serve }: Bench<Request>): void {
  const waiting = (within: Limiter, more: object = {}): GateOptions<Request> =>
    ({ limiter: within, key: () => 'all', onDenied: 'wait', maxWaitMs: 10 * MINUTE_MS, ...more }) as GateOptions<Request>

  it('lets requests wait for their turn, in order, and sends the fields of the decision then', async () => {
    const within = limiter()
    const send = await serve(waiting(within))
    for (const remaining of ['1', '0']) expect((await send()).headers['ratelimit-remaining']).toBe(remaining)
    const done: string[] = []
    const sending = (name: string): Promise<HttpAnswer> => send({ path: `/${name}` }).finally(() => done.push(name))
    const third = sending('third')
    await missing(within, 2)
    const fourth = sending('fourth')
    await missing(within, 3)
    clock().advance(MINUTE_MS)
    const { status, text, headers } = await third
    expect([status, text, headers['ratelimit'], headers['retry-after']]).toEqual([200, 'hello', '"default";r=0;t=60', undefined])
    expect(done).toEqual(['third'])
    clock().advance(MINUTE_MS)
    expect((await fourth).status).toBe(200)
  })

  it('denies a request at once that would wait longer than maxWaitMs, or finds too many that wait', async () => {
    const within = limiter()
    const send = await serve(waiting(within, { maxWaitMs: 1.5 * MINUTE_MS }))
    for (let count = 0; count < 2; count += 1) await send()
    const third = send()
    await missing(within, 2)
    const denied = await send()
    expect([denied.status, JSON.parse(denied.text).reason, Number(denied.headers['retry-after']) >= 30]).toEqual([429, 'quota', true])
    const few = await serve(waiting(within, { maxWaiting: 1 }))
    const fourth = few()
    await missing(within, 3)
    expect((await few()).status).toBe(429)
    clock().advance(2 * MINUTE_MS)
    expect([(await third).status, (await fourth).status]).toEqual([200, 200])
  })

  it('a client that leaves gives its place back', async () => {
    const within = limiter()
    const send = await serve(waiting(within))
    for (let count = 0; count < 2; count += 1) await send()
    const { port, hostname } = new URL(send.url)
    const sockets = [2, 3].map(() => connect(Number(port), hostname).on('error', () => {}))
    for (const [index, socket] of sockets.entries()) {
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await missing(within, 2 + index)
    }
    for (const [index, socket] of sockets.toReversed().entries()) {
      socket.destroy()
      await missing(within, 2 - index)
    }
    const third = send()
    await missing(within, 2)
    clock().advance(MINUTE_MS)
    expect((await third).status).toBe(200)
  })

  it.each([
    [{ maxWaitMs: 5 }, "maxWaitMs is for onDenied: 'wait'"],
    [{ onDenied: 'wait', maxWaiting: 0 }, 'maxWaiting is 0, expected a whole number above 0'],
    [{ onDenied: 'later' }, `onDenied is "later", expected a function, or 'wait'`],
  ])('refuses %j when it is made', async (options, message) => {
    await expect(adapter.serve({ limiter: limiter(), ...options })).rejects.toThrow(message)
  })
}
