import { Redis } from 'ioredis'
import { describe, inject } from 'vitest'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/memory-store.ts'
import { ioredis, redisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing/index.ts'
import { farStore } from '../stores/wrap/far-store.ts'
import { asked, wrappers } from './wrappers.ts'
import { plainName } from '../stores/redis/plain-name.ts'

/** At the far end of a wire. */
for (const [name, wrap] of [...wrappers, ...asked]) {
  let inner: MemoryStore
  storeSuite(`${name}(far memory)`, {
    open: async () => wrap(farStore((inner = memoryStore()))),
    readState: async (id) => inner.stateOf(id),
    differentialCalls: 10_000,
  })
}

const { redis: url } = inject('engines')

describe.skipIf(url === undefined)('around Redis', () => {
  for (const [name, wrap] of [...wrappers, ...asked]) {
    const prefix = `${name.replaceAll(' ', '')}-${process.pid}:`
    const client = new Redis(url ?? '', { lazyConnect: true })
    storeSuite(`${name}(redis)`, {
      open: async () => wrap(redisStore({ client: ioredis(client), prefix })),
      readState: async (id) => readValue(await client.getBuffer(plainName(prefix, id))).numbers,
      close: async () => {
        await client.quit()
      },
      differentialCalls: 10_000,
    })
  }
})
