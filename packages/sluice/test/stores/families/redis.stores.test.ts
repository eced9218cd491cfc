import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { compareAndSwapStore } from '../../../src/stores/families/compare-and-swap.ts'
import { storeSuite } from '../../../src/testing.ts'
import { systemRandom, systemTime } from '../../../src/time/system.ts'
import { redisBackend, rowOf } from './redis-backend.ts'

const { redis: url } = inject('engines')
const prefix = `family-${process.pid}:`

describe.skipIf(url === undefined)('Redis', () => {
  const client = new Redis(url ?? '', { lazyConnect: true })
  const backend = redisBackend(client, prefix)
  storeSuite('compare-and-swap on Redis', {
    open: async () => compareAndSwapStore(backend, { clock: systemTime, random: systemRandom }),
    differentialCalls: 20_000,
    ownClockCalls: 1_000,
    readState: async (id) => {
      const value = await client.get(backend.idOf(id))
      const numbers = value === null ? [] : rowOf(value).numbers
      return numbers.length === 0 ? undefined : numbers
    },
    close: async () => {
      await client.quit()
    },
  })
})
