import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, inject } from 'vitest'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { packedState } from '../stores/redis/packed-state.ts'
import { plainName } from '../stores/redis/plain-name.ts'

const { redis: url } = inject('engines')
const user = `sluice-${process.pid}`
const prefix = `sluice:acl-${process.pid}:`
const page = readFileSync(new URL('../../../../docs/stores/redis.md', import.meta.url), 'utf8')
/** The page's own words, for a user of this process. */
const rules = (/ACL SETUSER sluice ([^`]*)/.exec(page)?.[1] ?? '').trim().split(/\s+/)

describe.skipIf(url === undefined)('Redis, as the user of the page', () => {
  const admin = new Redis(url ?? '', { lazyConnect: true })
  const client = new Redis(url ?? '', { lazyConnect: true, username: user, password: 'password' })
  beforeAll(async () => {
    await admin.call('ACL', 'SETUSER', user, ...rules)
  })
  afterAll(async () => {
    client.disconnect()
    await admin.call('ACL', 'DELUSER', user)
    await admin.quit()
  })
  const small = { differentialCalls: 10_000 }
  storeSuite('redis (least rights)', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix }),
    readState: async (id) => readValue(await admin.getBuffer(plainName(prefix, id))).numbers,
    ...small,
  })
  const packing = { keys: 200 }
  storeSuite('redis (packed, least rights)', {
    open: async () => bareRedisStore({ client: ioredis(client), prefix: `${prefix}packed:`, layout: 'packed', packing }),
    readState: async (id) => (await packedState(admin, `${prefix}packed:`, packing, id)).numbers,
    ...small,
  })
})
