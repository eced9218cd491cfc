import { Redis } from 'ioredis'
import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { manualClock } from 'sluice/clock'
import type { TraceEntry } from 'sluice/testing'
import { CLOJURE_PROGRAM, clojureKeys, clojureLimit } from '../contestants/clojure-lua.ts'
import type { Quota } from '../contestants/contestant.ts'
import { auditPromise } from '../over-grant.ts'

/** The article's limit: 10 requests in 10 seconds, so a token a second. */
export const TEN_IN_TEN: Quota = { tokens: 1, per: '1s', burst: 10 }

/** The time between two requests in milliseconds. A token takes 1,000. */
export const POLLS: readonly number[] = [50, 100, 200, 250, 350, 400, 500, 550, 600, 700, 750, 800, 900, 1_000]
const DURATION = 100_000

export interface Polled {
  readonly everyMs: number
  readonly requests: number
  readonly allowed: number
  readonly overGrantPercent: number
}

type Decide = (nowMs: number) => Promise<boolean> | boolean

/** Requests at fixed intervals for 100 seconds of the time that the program gets as an argument. */
export async function polled(everyMs: number, decide: Decide): Promise<Polled> {
  const admitted: TraceEntry[] = []
  const requests = Math.floor(DURATION / everyMs)
  for (let request = 0; request < requests; request += 1) {
    const now = 1_000_000 + request * everyMs
    if (await decide(now)) admitted.push({ at: now * 1_000, cost: 1, allowed: true })
  }
  const { overGrantPercent } = auditPromise(admitted, 'bucket', TEN_IN_TEN)
  return { everyMs, requests, allowed: admitted.length, overGrantPercent }
}

/**
 * Calls the Lua program of the article "Rate limiting in Clojure and Redis Lua". The program gets its time as an argument, so no call has
 * to wait.
 */
export async function pollArticle(url: string, everyMs: number): Promise<Polled> {
  const client = new Redis(url)
  const keys = clojureKeys(`sluice-bench:poll:${everyMs}`)
  const result = await polled(
    everyMs,
    async (now) => (await client.eval(CLOJURE_PROGRAM, 2, ...keys, ...clojureLimit(TEN_IN_TEN), now)) !== 1,
  )
  await client.del(...keys)
  await client.quit()
  return result
}

/**
 * Calls Sluice's bucket in memory, on a clock that this function moves. The Redis store makes the same decisions, but on the server's
 * clock, which cannot be moved.
 */
export function pollSluice(everyMs: number): Promise<Polled> {
  const clock = manualClock(1_000_000_000)
  const { tokens, per, burst } = TEN_IN_TEN
  const limiter = createLimiter({
    name: 'poll',
    limit: tokenBucket({ rate: { tokens, per }, burst }),
    store: memoryStore({ clock }),
    clock,
  })
  return polled(everyMs, (now) => {
    clock.shift(now * 1_000 - clock.now())
    return limiter.checkSync('user:1').allowed
  })
}
