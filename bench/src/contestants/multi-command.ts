import type { Redis } from 'ioredis'
import { openWire } from '../wire.ts'
import { type Contestant, TIME_TO_LIVE } from './contestant.ts'
import { draw } from './level.ts'

/** Reads, computes here, writes back whatever came out: three commands, between which others read too. All callers share a connection. */
export const multiCommand: Contestant = {
  name: 'multi-command',
  open: async (url, bucket) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const { key } = bucket
    return {
      wire,
      ask: async () => {
        const now = Date.now()
        const { granted, tokens, at } = draw(await client.hmget(key, 'tokens', 'at'), now, bucket)
        await client.hmset(key, { tokens, at })
        await client.pexpire(key, TIME_TO_LIVE)
        return granted
      },
      close: async () => {
        await client.del(key)
        await wire.close()
      },
    }
  },
}
