import { setTimeout as later } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Contestant } from '../contestants/contestant.ts'
import { usedMemory } from '../redis/used-memory.ts'

export interface Idle {
  /** Keys in Redis, and bytes of its memory for each user, directly after the requests and when all limits are full again. */
  readonly before: { readonly keys: number; readonly bytes: number }
  readonly after: { readonly keys: number; readonly bytes: number }
  readonly refused: number
}

const BATCH = 200

export interface IdleLoad {
  readonly users: number
  /** Milliseconds until a limit is full again. The requests of all users together must not take longer. */
  readonly refillMs: number
}

/** Milliseconds that Redis may take to remove keys that have expired. */
const PATIENCE_MS = 30_000

/** Makes a request for each of `users`, and waits until all their limits are full again and expired keys are gone. */
export async function idleMemory(url: string, contestant: Contestant, { users, refillMs }: IdleLoad): Promise<Idle> {
  const client = new Redis(url)
  await client.flushall()
  const running = await contestant.open(url, { tokens: 60_000 / refillMs, per: '1m', burst: 10 }, { callers: 1 })
  const empty = await usedMemory(client)
  let refused = 0
  const decide = async (key: string): Promise<void> => {
    // Requests that miss the deadline on a busy machine are repeated.
    for (let tries = 0; tries < 20; tries += 1) {
      try {
        if (!running.passed(await running.invoke(key, 0))) refused += 1
        return
      } catch {
        await later(20)
      }
    }
    refused += 1
  }
  for (let from = 0; from < users; from += BATCH)
    await Promise.all(Array.from({ length: Math.min(BATCH, users - from) }, (_, index) => decide(`idle:user:${10_000_000 + from + index}`)))
  const measured = async (): Promise<Idle['before']> => ({
    keys: await client.dbsize(),
    bytes: ((await usedMemory(client)) - empty) / users,
  })
  const before = await measured()
  const until = performance.now() + PATIENCE_MS
  await later(refillMs)
  while (performance.now() < until && (await client.dbsize()) > 0 && (await hasExpiry(client))) await later(200)
  const after = await measured()
  await running.close([])
  await client.flushall()
  await client.quit()
  return { before, after, refused }
}

/** Whether any key has an expiry. If none has, the measurement need not wait until keys have expired. */
async function hasExpiry(client: Redis): Promise<boolean> {
  const keyspace = await client.info('keyspace')
  return Number(/expires=(\d+)/.exec(keyspace)?.[1] ?? 0) > 0
}
