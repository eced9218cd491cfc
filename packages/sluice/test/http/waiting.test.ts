import { describe, expect, it } from 'vitest'
import { createGate, type Passage, type RequestReader } from '../../src/http/gate.ts'
import { type Checked, handlerOf, leftResponse, waitingChecks } from '../../src/http/waiting.ts'
import { createLimiter, type Decision, type Limiter, tokenBucket } from '../../src/index.ts'
import type { MaxWaitOptions } from '../../src/limiter/limiter.ts'

interface Waiter {
  readonly key: string
  readonly options: MaxWaitOptions
  readonly admit: (decision: Decision) => void
  readonly fail: (error: unknown) => void
}

/** A limiter whose waits the test ends. */
function heldWaits(): { readonly limiter: Limiter; readonly waiters: Waiter[] } {
  const waiters: Waiter[] = []
  const limiter = createLimiter({ limit: tokenBucket({ rate: '1/s', burst: 1 }) })
  const wait: Limiter['wait'] = (key, options = {}) =>
    new Promise((admit, fail) => {
      options.signal?.addEventListener('abort', () => fail(options.signal?.reason))
      waiters.push({ key, options, admit, fail })
    })
  return { limiter: { ...limiter, wait }, waiters }
}

const ALLOWED = { outcome: 'allowed', allowed: true, limits: [], at: 0, atMicros: 0, source: 'store' } as const

describe("onDenied: 'wait'", () => {
  it('lets 1,000 requests wait for 10 s at most, and decides the next ones at once, until one has ended', async () => {
    const { limiter, waiters } = heldWaits()
    const check = waitingChecks({}, undefined)(limiter)
    const all = Array.from({ length: 1_001 }, () => check('k', undefined, {}))
    expect(waiters.map(({ options }) => options.maxWaitMs)).toEqual([...Array.from({ length: 1_000 }, () => 10_000), 0])
    waiters[7]?.admit(ALLOWED)
    waiters[8]?.fail(new Error('of the limiter'))
    expect(await all[7]).toBe(ALLOWED)
    await expect(all[8]).rejects.toThrow('of the limiter')
    const more = [1, 2].map(() => check('k', 3, {}))
    expect(waiters.slice(-2).map(({ options }) => options.maxWaitMs)).toEqual([10_000, 0])
    for (const { admit } of waiters) admit(ALLOWED)
    await Promise.all(more)
  })

  it('counts the requests of all limits of a gate together, and passes their cost', async () => {
    const { limiter, waiters } = heldWaits()
    const checks = waitingChecks({ maxWaiting: 1, maxWaitMs: 5 }, undefined)
    const waits = [checks(limiter)('a', undefined, {}), checks(limiter)('b', 3, {})]
    expect(waiters.map(({ key, options: { cost, maxWaitMs } }) => [key, cost, maxWaitMs])).toEqual([
      ['a', undefined, 5],
      ['b', 3, 0],
    ])
    expect('cost' in (waiters[0]?.options ?? {})).toBe(false)
    for (const { admit } of waiters) admit(ALLOWED)
    await Promise.all(waits)
  })

  it('stops to watch a client when its wait has ended, and only its own leaving ends a wait as left', async () => {
    const { limiter, waiters } = heldWaits()
    const watched = new Map<object, () => void>()
    const check = waitingChecks<object, unknown>({}, (request, leave) => {
      watched.set(request, leave)
      return () => watched.delete(request)
    })(limiter)
    const ended = async (end: (waiter: Waiter | undefined, leave: (() => void) | undefined) => void): Promise<unknown> => {
      const request = {}
      const result: Promise<Checked> = Promise.resolve(check('k', undefined, request))
      end(waiters.at(-1), watched.get(request))
      const outcome = await result.catch((error: Error) => error.message)
      expect(watched.size).toBe(0)
      return outcome
    }
    expect(await ended((waiter) => waiter?.admit(ALLOWED))).toBe(ALLOWED)
    expect(await ended((waiter) => waiter?.fail(new Error('of the limiter')))).toBe('of the limiter')
    expect(await ended((_, leave) => leave?.())).toBe('left')
    expect(await ended((waiter, leave) => (waiter?.fail(new Error('first')), leave?.()))).toBe('first')
  })

  it('a request whose client has left has no decision and no answer, and the fields of no limit', async () => {
    const { limiter } = heldWaits()
    const reader: RequestReader<object> = {
      method: () => 'GET',
      target: () => '/',
      headers: () => ({}),
      onLeave: (_, leave) => {
        queueMicrotask(leave)
        return () => {}
      },
    }
    const gate = createGate({ limiter, key: () => 'k', onDenied: 'wait' } as object, reader)
    const passage: Passage = await gate.check({}, undefined)
    expect(passage).toEqual({ identity: '', left: true })
    const fields: string[] = []
    gate.applyHeaders({ getHeader: () => undefined, setHeader: (name) => fields.push(name) }, passage)
    expect(fields).toEqual([])
  })

  it('is not a handler; the response to a client that has left has a status for logs', () => {
    const handler = (): void => {}
    expect([handlerOf('wait'), handlerOf(handler), handlerOf(undefined)]).toEqual([undefined, handler, undefined])
    expect([leftResponse().status, leftResponse().body]).toEqual([499, null])
  })
})
