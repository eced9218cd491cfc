import { readdirSync, readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { UNITS } from '../../src/regions/rights/limit.ts'
import { ioredis, bareRedisStore } from '../../src/stores/redis/index.ts'
import { readValue } from '../../src/stores/redis/value.ts'
import { storeSuite } from '../../src/testing.ts'
import { packedState } from '../stores/redis/packed-state.ts'
import { plainName } from '../stores/redis/plain-name.ts'
import { escrowAround } from './escrow-around.ts'
import { allInOne } from './escrow-memory.ts'
import { ADOPTS, partSent, travellers } from './out-and-back.ts'

const { redis: url } = inject('engines')
const user = `sluice-${process.pid}`
const regional = `${user}-regions`
const prefix = `sluice:acl-${process.pid}:`
const page = readFileSync(new URL('../../../../docs/stores/redis.md', import.meta.url), 'utf8')
/** The ACL rules that docs/stores/redis.md recommends. The first list is for every store. The second list is added for regions. */
const [rules = [], forRegions = []] = [...page.matchAll(/ACL SETUSER sluice ([^`]*)/g)].map(([, words = '']) => words.trim().split(/\s+/))
/**
 * Whether a limit is too small to be divided between the two regions here. The second region sends units to the first, and the first
 * decides.
 */
const isWhole = (limit: AnyLimit): boolean => partSent(limit, new Map(Object.entries(allInOne(2)))) === UNITS

describe.skipIf(url === undefined)('Redis, as the user of the page', () => {
  const admin = new Redis(url ?? '', { lazyConnect: true })
  const client = new Redis(url ?? '', { lazyConnect: true, username: user, password: 'password' })
  const between = new Redis(url ?? '', { lazyConnect: true, username: regional, password: 'password' })
  beforeAll(async () => {
    await admin.call('ACL', 'SETUSER', user, ...rules)
    await admin.call('ACL', 'SETUSER', regional, ...rules, ...forRegions)
  })
  afterAll(async () => {
    client.disconnect()
    between.disconnect()
    await admin.call('ACL', 'DELUSER', user, regional)
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
  const travelling = travellers(isWhole)
  storeSuite('redis (two regions, least rights)', {
    ...ADOPTS,
    open: () => escrowAround(bareRedisStore({ client: ioredis(between), prefix: `${prefix}regions:` }), 2, travelling),
    readState: async (id) => travelling.unlessUntouched(readValue(await admin.getBuffer(plainName(`${prefix}regions:`, id))).numbers),
    keepsTokens: travelling.keepsTokens,
    differentialCalls: 1_000,
  })

  it('may do all that programs do, and nothing else', () => {
    const folder = new URL('../../src/stores/redis/lua/', import.meta.url)
    const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.lua'))
    const used = texts.flatMap((name) =>
      Array.from(readFileSync(new URL(name, folder), 'utf8').matchAll(/\bp?call\('([A-Z]+)'/g), ([, command = '']) =>
        command.toLowerCase(),
      ),
    )
    const allowed = [...rules, ...forRegions].filter((rule) => rule.startsWith('+')).map((rule) => rule.slice(1))
    const ofClients = ['evalsha', 'eval', 'ping', 'hello', 'client|setname']
    expect(allowed.toSorted()).toEqual([...new Set([...used, ...ofClients])].toSorted())
  })
})
