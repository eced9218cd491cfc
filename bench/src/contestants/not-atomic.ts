import type { Redis } from 'ioredis'
import type { TraceEntry } from 'sluice/testing'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue, windowOf } from './contestant.ts'
import { serverTime } from './server-time.ts'

/**
 * GET, then INCR if the count allows it: the first pitfall of the article "Rate Limiting at Scale". Between the two commands, other
 * callers read the same count. The window begins with the first request.
 */
export const getThenIncr: Contestant = {
  name: 'GET then INCR',
  kind: 'baseline',
  promise: 'window',
  open: async (url, quota, { note = false }) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const window = Math.round(windowOf(quota) * 1_000)
    const admitted: TraceEntry[] = []
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        if (Number(await client.get(key)) >= quota.burst) return false
        const incremented = client.incr(key)
        // The time is read after the write on the same connection, so the request is already charged then.
        const time = note ? serverTime(client) : undefined
        if ((await incremented) === 1) await client.pexpire(key, window)
        if (time !== undefined) admitted.push({ at: await time, cost: 1, allowed: true })
        return true
      },
      passed: isTrue,
      close: async (keys) => {
        if (keys.length > 0) await client.del(...keys)
        await wire.close()
      },
    }
  },
}

interface Counted {
  turn: number
  count: number
}

/** A Map of counters in each process, in windows of its clock. Each process admits the whole limit. */
export const countersInProcess: Contestant = {
  name: 'counters in each process',
  kind: 'baseline',
  promise: 'window',
  open: async (url, quota, { note = false }) => {
    const wire = await openWire(url, 0)
    const window = Math.round(windowOf(quota) * 1_000)
    const counters = new Map<string, Counted>()
    const admitted: TraceEntry[] = []
    return {
      wire,
      ...(note ? { admitted } : {}),
      invoke: async (key) => {
        // There is no server whose clock could be read; all processes are on one machine.
        const now = performance.timeOrigin + performance.now()
        const turn = Math.floor(now / window)
        let counter = counters.get(key)
        if (counter?.turn !== turn) counters.set(key, (counter = { turn, count: 0 }))
        if (counter.count >= quota.burst) return false
        counter.count += 1
        if (note) admitted.push({ at: Math.round(now * 1_000), cost: 1, allowed: true })
        return true
      },
      passed: isTrue,
      close: () => wire.close(),
    }
  },
}
