/**
 * A file of an application that exports what the library returns, without annotations. A compiler that writes declarations must find a name
 * for each type, from a subpath of the library.
 */
export const EXPORTED = `import * as sluice from 'sluice'
import type { PostgresStore, PostgresStoreOptions, RemoteStoreOptions } from 'sluice/postgres'
import type { RedisStoreOptions } from 'sluice/redis'
import type { EngineOptions, HoldRequests } from 'sluice/policy'
import type { ReplicateOptions } from 'sluice/regions'
import { manualClock } from 'sluice/clock'
import type { NodeRequest } from 'sluice/node'
import type { KoaContext } from 'sluice/koa'
import { withDividedLimit } from 'sluice/remote'

const rate = '10/s'
export const perUser = sluice.tokenBucket({ rate, burst: 20 })
export const limits = {
  fixed: sluice.fixedWindow({ limit: 5, window: '1m' }),
  counter: sluice.slidingWindowCounter({ limit: 5, window: '1m' }),
  log: sluice.slidingWindowLog({ limit: 5, window: '1m' }),
  slots: sluice.concurrency({ limit: 5, holdMs: 1_000 }),
}
export const divided = withDividedLimit(sluice.memoryStore(), 2)
export const limiter = sluice.createLimiter({ limit: perUser })
export async function acquire(key: string) {
  const { allowed, hold } = await limiter.check(key)
  return { allowed, hold }
}
export const { lease } = sluice.memoryStore()
export const { refund, release, settle } = limiter
export const cancel = manualClock().after(1, () => {})

export const optionsOf = (
  memory: sluice.MemoryStoreOptions,
  redis: RedisStoreOptions,
  postgres: PostgresStoreOptions,
  ring: RemoteStoreOptions,
  engine: EngineOptions,
  regions: ReplicateOptions,
) => [memory.onFull, redis.onFull, postgres.onWarning, postgres.random, ring.random, engine.onWarning, engine.random, regions.random] as const
export const functionsOf = (store: PostgresStore, holds: HoldRequests) => [store.migrate, holds.settle] as const
export const connectionOf = ({ stream }: NodeRequest, { res }: KoaContext) => ({ stream, res })
`
