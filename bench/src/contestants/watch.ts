import type { Redis } from 'ioredis'
import { openWire } from '../wire.ts'
import { type Contestant, TIME_TO_LIVE } from './contestant.ts'
import { draw } from './level.ts'

const TRIES = 20

/**
 * Watches the key, reads, computes here and writes in a transaction that fails if anybody wrote in between: then all over
 * again, at most 20 times. Every caller has a connection of its own, because a WATCH belongs to the connection, not the request.
 */
export const watch: Contestant = {
  name: 'WATCH/MULTI/EXEC',
  open: async (url, bucket, { callers }) => {
    const wire = await openWire(url, callers)
    const { key } = bucket
    return {
      wire,
      ask: async (caller) => {
        const client = wire.clients[caller] as Redis
        const now = Date.now()
        for (let tries = 0; tries < TRIES; tries += 1) {
          await client.watch(key)
          const { granted, tokens, at } = draw(await client.hmget(key, 'tokens', 'at'), now, bucket)
          const transaction = client.multi()
          if (granted) transaction.hset(key, { tokens, at })
          transaction.pexpire(key, TIME_TO_LIVE)
          if ((await transaction.exec()) !== null) return granted
        }
        throw new Error(`interrupted ${TRIES} times`)
      },
      close: async () => {
        await (wire.clients[0] as Redis).del(key)
        await wire.close()
      },
    }
  },
}
