const ALL = `import * as sluice from 'sluice'
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

const CORE = `import * as sluice from 'sluice'

export const log = { onStoreCall: (call) => console.log(call.operation), onCharge: (charge) => console.log(charge) } satisfies sluice.Observer
export const optionsOf = (group: sluice.CallGroup) => group.options
export const scopesOf = (group: sluice.CallGroup) => group.calls.map(({ id }) => id.scope)
export async function outcomesOf(store: sluice.Store, groups: readonly sluice.CallGroup[]) {
  return (await store.decide(groups)).map(({ calls, failure }) => calls?.map(({ outcome }) => outcome) ?? failure)
}
`

const POLICY = `import type { Engine } from 'sluice/policy'

export const finishOf = ({ settle, extend }: Engine) => [settle, extend] as const
`

const FETCH = `import { decisionOf } from 'sluice/fetch'

export const outcomeOf = (request: Request) => decisionOf(request)
`

/**
 * Files of an application that export what the library returns, without annotations. A compiler that writes declarations must find a name
 * for each type, from a subpath of the library that the program imports. So each file is a program of its own.
 */
export const EXPORTED: Readonly<Record<string, string>> = { all: ALL, core: CORE, policy: POLICY, fetch: FETCH }
