import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, TIME_TO_LIVE } from './contestant.ts'
import { draw } from './level.ts'
import { microsOf } from './server-time.ts'

const TRIES = 20

/**
 * Watches the key, reads it, computes in the client, and writes in a transaction. The transaction fails if another client has written the
 * key meanwhile; then everything is repeated, at most 20 times. Every caller has its own connection, because a WATCH belongs to the
 * connection.
 */
export const watch: Contestant = {
  name: 'WATCH/MULTI/EXEC',
  kind: 'baseline',
  clock: 'client',
  open: async (url, quota, { callers, note = false }) => {
    const wire = await openWire(url, callers)
    const admitted: TraceEntry[] = []
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key, caller) => {
        const client = wire.clients[caller] as Redis
        const now = Date.now()
        for (let tries = 0; tries < TRIES; tries += 1) {
          await client.watch(key)
          const { granted, tokens, at } = draw(await client.hmget(key, 'tokens', 'at'), now, quota)
          const transaction = client.multi()
          if (granted) transaction.hset(key, { tokens, at })
          transaction.pexpire(key, TIME_TO_LIVE)
          if (note) transaction.time()
          const answers = await transaction.exec()
          if (answers === null) continue
          if (note && granted) admitted.push({ at: microsOf(answers.at(-1)?.[1] as string[]), cost: 1, allowed: true })
          return granted
        }
        throw new Error(`interrupted ${TRIES} times`)
      },
      passed: isTrue,
      close: async (keys) => {
        if (keys.length > 0) await (wire.clients[0] as Redis).del(...keys)
        await wire.close()
      },
    }
  },
}
