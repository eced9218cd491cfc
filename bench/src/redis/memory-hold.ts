import { Redis } from 'ioredis'
import { ioredis, redisStore } from 'sluice/redis'
import { perSecondOf, type Quota, TIME_TO_LIVE } from '../contestants/contestant.ts'
import { PROGRAM } from '../contestants/lua.ts'
import { groupsUnder } from '../contestants/groups.ts'
import { usedMemory } from './used-memory.ts'

export interface MemoryInput {
  readonly url: string
  readonly keys: number
  readonly quota: Quota
}

/** Bytes of Redis's memory for one key: its name, value and expiry, with their entries in Redis's tables. */
export interface MemoryResult {
  readonly plain: number
  /** A hash of two fields, under the names of the plain layout. */
  readonly hash: number
  /** An empty text with an expiry, under the same names: the least that any value costs. */
  readonly empty: number
  /** Absent if the store has no packed layout. */
  readonly packed?: { readonly bytes: number; readonly hashes: number }
  /** An example of a key's name in Redis. */
  readonly example: string
  /** Charges that were not allowed. All charges fit into the bursts, so a number above 0 is an error. */
  readonly refused: number
}

/** Charges of every key. After two, a level has a fraction, as in normal use. */
const CHARGES = 2
/** The share of the burst that a charge takes. A nearly full bucket would expire before its memory is measured. */
const SHARE = 0.44
const BATCH = 100

/** Fills an empty server with one layout after the other, and measures the memory. Undefined if states expired before the measurement. */
export async function weighKeys({ url, keys, quota }: MemoryInput): Promise<MemoryResult | undefined> {
  const client = new Redis(url)
  const identities = Array.from({ length: keys }, (_, index) => `user:${String(index).padStart(19, '0')}`)
  let refused = 0
  const fill = async (layout: 'plain' | 'packed'): Promise<void> => {
    const options = layout === 'packed' ? { layout } : {}
    const store = redisStore({ client: ioredis(client), ring: false, ...options })
    const groupOf = groupsUnder(quota, quota.burst * SHARE)
    for (let charge = 0; charge < CHARGES; charge += 1)
      for (let from = 0; from < keys; from += BATCH)
        for (const { outcome } of await store.decide(identities.slice(from, from + BATCH).map(groupOf)))
          if (outcome !== 'allowed') refused += 1
    await store.close()
  }
  const weigh = async (filling: () => Promise<void>): Promise<number> => {
    await client.flushall()
    const before = await usedMemory(client)
    await filling()
    return ((await usedMemory(client)) - before) / keys
  }
  // Loads programs and allocates buffers before the first measurement.
  await redisStore({ client: ioredis(client), ring: false }).ready()
  const plain = await weigh(() => fill('plain'))
  const names = await namesOf(client)
  if (names.length !== keys) {
    await client.quit()
    return undefined
  }
  const hash = await weigh(() => fillHashes(client, names, quota))
  const empty = await weigh(() => fillEmpty(client, names))
  const packed = await weigh(() => fill('packed'))
  const hashes = await client.dbsize()
  await client.flushall()
  await client.quit()
  // A store without the packed layout has one key for each state.
  return { plain, hash, empty, ...(hashes < keys ? { packed: { bytes: packed, hashes } } : {}), example: names[0] as string, refused }
}

async function fillHashes(client: Redis, names: readonly string[], quota: Quota): Promise<void> {
  const digest = (await client.script('LOAD', PROGRAM)) as string
  const [rate, { burst }] = [perSecondOf(quota), quota]
  for (let charge = 0; charge < CHARGES; charge += 1)
    for (let from = 0; from < names.length; from += BATCH)
      await Promise.all(
        names
          .slice(from, from + BATCH)
          .map((name) => client.evalsha(digest, 1, name, Date.now(), rate, burst, burst * SHARE, TIME_TO_LIVE)),
      )
}

async function fillEmpty(client: Redis, names: readonly string[]): Promise<void> {
  for (let from = 0; from < names.length; from += BATCH)
    await Promise.all(names.slice(from, from + BATCH).map((name) => client.set(name, '', 'PX', TIME_TO_LIVE)))
}

async function namesOf(client: Redis): Promise<string[]> {
  const names: string[] = []
  for await (const some of client.scanStream({ count: 1_000 })) names.push(...(some as string[]))
  return [...new Set(names)]
}
