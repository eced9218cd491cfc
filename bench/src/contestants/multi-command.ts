import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, TIME_TO_LIVE } from './contestant.ts'
import { draw, type Level } from './level.ts'
import { serverTime } from './server-time.ts'

/** What is written back after the bucket was computed at the client's time `now`; undefined for nothing. */
type WriteBack = (computed: ReturnType<typeof draw>, now: number) => Level | undefined

/**
 * Reads the bucket, computes in the client and writes the result: three commands, between which other callers may read too. All callers
 * share a connection.
 */
export const multiCommand: Contestant = contestant('multi-command', ({ tokens, at }) => ({ tokens, at }))

/**
 * As the article "Benchmarking Token Bucket Rate Limiters" prints it: `max(tokens - cost, 0)` is written also on denial, so each denial
 * destroys the part of a token that was refilled.
 */
export const multiCommandPrinted: Contestant = contestant('multi-command, as printed', ({ granted, tokens }, now) => ({
  tokens: granted ? tokens : 0,
  at: now,
}))

/** The first version of that article, which writes only if the request is allowed. */
export const multiCommandAllowedOnly: Contestant = contestant('multi-command, writes only when allowed', ({ granted, tokens, at }) =>
  granted ? { tokens, at } : undefined,
)

function contestant(name: string, writeBack: WriteBack): Contestant {
  return { name, kind: 'baseline', clock: 'client', open: opener(writeBack) }
}

function opener(writeBack: WriteBack): Contestant['open'] {
  return async (url, quota, { note = false }) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const admitted: TraceEntry[] = []
    return {
      wire,
      ...(note === false ? {} : { admitted }),
      invoke: async (key) => {
        const now = Date.now()
        const computed = draw(await client.hmget(key, 'tokens', 'at'), now, quota)
        const { granted } = computed
        const level = writeBack(computed, now)
        const written = level === undefined ? undefined : client.hmset(key, { tokens: level.tokens, at: level.at })
        // The time is read after the write on the same connection, so the request is already charged then.
        const time = note !== false && granted ? serverTime(client) : undefined
        await written
        await client.pexpire(key, TIME_TO_LIVE)
        if (time !== undefined) admitted.push({ at: await time, cost: 1, allowed: true })
        return granted
      },
      passed: isTrue,
      close: async (keys) => {
        if (keys.length > 0) await client.del(...keys)
        await wire.close()
      },
    }
  }
}
