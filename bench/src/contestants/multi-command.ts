import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, TIME_TO_LIVE } from './contestant.ts'
import { draw } from './level.ts'
import { serverTime } from './server-time.ts'

/** Reads, computes here, writes back whatever came out: three commands, between which others read too. All callers share a connection. */
export const multiCommand: Contestant = {
  name: 'multi-command',
  open: async (url, quota, { note = false }) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const admitted: TraceEntry[] = []
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        const now = Date.now()
        const { granted, tokens, at } = draw(await client.hmget(key, 'tokens', 'at'), now, quota)
        const written = client.hmset(key, { tokens, at })
        // Behind the write on the same connection: what was granted has then been charged.
        const time = note && granted ? serverTime(client) : undefined
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
  },
}
