import { expect, it } from 'vitest'
import { concurrency } from '../algorithms/concurrency.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { Store } from '../stores/store.ts'
import { systemTime } from '../time/system.ts'
import type { Bench } from './adapter-bench.ts'

const KEY = 'one'
const key = (): string => KEY

/** The clock stands still, so no hold ends with time. */
export function slotCases<Request>({ clock, limiter, serve }: Bench<Request>): void {
  const slots = (limit: number, store?: Store): Limiter =>
    limiter({ limits: { atOnce: concurrency({ limit, holdMs: 60_000 }) }, ...(store === undefined ? {} : { store }) })
  const free = async (limits: Limiter): Promise<number | undefined> => (await limits.peek(KEY)).limits[0]?.remaining

  it('a slot is given back when the response has ended, once', async () => {
    const limits = slots(2)
    const { hold } = await limits.check(KEY)
    const send = await serve({ limiter: limits, key })
    for (let turn = 0; turn < 5; turn += 1) {
      expect((await send()).status).toBe(200)
      await expect.poll(() => free(limits)).toBe(1)
    }
    await limits.release(KEY, hold?.id ?? '')
    expect(await free(limits)).toBe(2)
  })

  it('a request that finds no slot is refused, without a time to wait, and gives back nothing', async () => {
    const limits = slots(1)
    await limits.check(KEY)
    const send = await serve({ limiter: limits, key })
    for (let turn = 0; turn < 3; turn += 1) {
      const { status, headers, text } = await send()
      expect([status, headers['retry-after'], headers['ratelimit']]).toEqual([429, undefined, '"atOnce";r=0'])
      expect(JSON.parse(text)).toMatchObject({ reason: 'concurrency' })
    }
    expect(await free(limits)).toBe(0)
  })

  it('a client that leaves while the store is called holds nothing', async () => {
    const memory = memoryStore({ clock: clock() })
    const { decideNow: _, ...later } = memory
    let called = (): void => {}
    let go = (): void => {}
    const isCalled = new Promise<void>((resolve) => (called = resolve))
    const mayGo = new Promise<void>((resolve) => (go = resolve))
    const slow: Store = {
      ...later,
      capabilities: { ...memory.capabilities, sync: false },
      async decide(groups, options) {
        if (options?.charge !== false) {
          called()
          await mayGo
        }
        return memory.decide(groups, options)
      },
    }
    const limits = slots(1, slow)
    const send = await serve({ limiter: limits, key })
    const leave = leavingClient(send.url)
    await isCalled
    await leave()
    go()
    await expect.poll(() => free(limits)).toBe(1)
  })

  it('a client that leaves while the handler runs holds nothing', async () => {
    let go = (): void => {}
    const mayAnswer = new Promise<void>((resolve) => (go = resolve))
    const limits = slots(1)
    const send = await serve({ limiter: limits, key }, undefined, mayAnswer)
    const leave = leavingClient(send.url)
    await expect.poll(() => free(limits)).toBe(0)
    await leave()
    // The server learns of it a moment later. Until then, an answer would end like any other.
    await new Promise<void>((resolve) => void systemTime.after(50, resolve))
    go()
    await expect.poll(() => free(limits)).toBe(1)
  })
}

/** Sends a request. The function that it returns closes the connection. */
function leavingClient(url: string): () => Promise<void> {
  const controller = new AbortController()
  const left = fetch(url, { signal: controller.signal }).then(
    () => 'answered',
    () => 'left',
  )
  return async () => {
    controller.abort()
    expect(await left).toBe('left')
  }
}
