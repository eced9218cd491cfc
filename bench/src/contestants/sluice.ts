import { setTimeout as later } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type AnyLimit, createLimiter, type Decision, type GroupVerdict, memoryStore, type Store, type Time } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import type { TraceEntry } from 'sluice/testing'
import { listening } from '../listening.ts'
import { type RingName, RINGS } from '../redis/rings.ts'
import { openWire, type WireOptions } from '../wire.ts'
import type { Contestant, Promised, Quota } from './contestant.ts'
import { groupsUnder } from './groups.ts'
import { type Algorithm, limitUnder } from './limits.ts'
import { openRegion, REGION_NAMES, type RegionKind, regionLimit } from './regions.ts'

const PAUSE_MS = 100

/** The client options that the adapter requires: a silent connection is replaced, and no command is sent twice. */
export const SOUND: WireOptions = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 }

const PROMISES: Readonly<Record<Algorithm, Promised>> = {
  'token-bucket': 'bucket',
  'fixed-window': 'window',
  'sliding-window-counter': 'counter',
  'sliding-window-log': 'log',
}

/** Sluice as it is published, with its defaults and its deadline, on the server's clock. All callers share a connection. */
export const sluice: Contestant = sluiceWith('Sluice', 'sluice')

export function sluiceWith(name: string, ring: RingName, algorithm: Algorithm = 'token-bucket'): Contestant {
  return sluiceOver(name, ring, (quota) => limitUnder(algorithm, quota), PROMISES[algorithm])
}

/** One of two regions. It decides by a half of a limit, which is the quota. */
export function sluiceRegion(kind: RegionKind): Contestant {
  return sluiceOver(REGION_NAMES[kind], 'sluice', regionLimit, 'bucket', (open) => openRegion(kind, open))
}

/** @param wrap opens stores, each with its own prefix of keys, and makes of them the store that decides. Default: a single store decides */
function sluiceOver(
  name: string,
  ring: RingName,
  limitOf: (quota: Quota) => AnyLimit,
  promise: Promised,
  wrap?: (open: (prefix: string) => Store) => Promise<Store>,
): Contestant {
  return {
    name,
    kind: 'ours',
    promise,
    instants: 'reported',
    open: async (url, quota, { note = false, clock, deadlineMs }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const time = clock === undefined ? {} : { clock: timeOf(clock) }
      const stores: Store[] = []
      const openStore = (prefix?: string): Store => {
        const own = prefix === undefined ? {} : { prefix: `${process.pid}-${prefix}:` }
        const opened = redisStore({ client: ioredis(wire.clients[0] as Redis), ring: RINGS[ring], ...own, ...time })
        stores.push(opened)
        return note === false ? opened : listening(opened, admitted, note === 'all')
      }
      const store = wrap === undefined ? openStore() : await wrap(openStore)
      const deadline = deadlineMs === undefined ? {} : { deadlineMs }
      const limiter = createLimiter({ name: 'bench', limit: limitOf(quota), store, ...time, ...deadline })
      // Sends the program to the server, so that no request of the run has to send it.
      await limiter.ready()
      return {
        wire,
        ...(note === false ? {} : { admitted }),
        invoke: (key) => limiter.check(key),
        passed,
        close: async (keys) => {
          for (const key of keys) await untilDone(() => limiter.reset(key))
          await limiter.close()
          for (const opened of stores) await opened.close()
          await wire.close()
        },
      }
    },
  }
}

function passed(answer: unknown): boolean {
  const decision = answer as Decision
  if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
  return decision.allowed
}

/** The memory store, called as the Redis store is: `check`, on the clock of this process. */
export function inMemory(name: string, algorithm: Algorithm): Contestant {
  return {
    name,
    kind: 'ours',
    promise: PROMISES[algorithm],
    instants: 'reported',
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 0)
      const admitted: TraceEntry[] = []
      const opened = memoryStore()
      const store = note ? listening(opened, admitted) : opened
      const limiter = createLimiter({ name: 'bench', limit: limitUnder(algorithm, quota), store })
      return { wire, ...(note ? { admitted } : {}), invoke: (key) => limiter.check(key), passed, close: () => limiter.close() }
    },
  }
}

/** The store without a limiter that turns verdicts into decisions. It is called as a limiter calls it, with the ring's deadline. */
export function storeWith(name: string, ring: RingName): Contestant {
  return {
    name,
    kind: 'ours',
    instants: 'reported',
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const opened = redisStore({ client: ioredis(wire.clients[0] as Redis), ring: RINGS[ring] })
      const store = note === false ? opened : listening(opened, admitted)
      const groupOf = groupsUnder(quota)
      await store.ready()
      return {
        wire,
        ...(note === false ? {} : { admitted }),
        invoke: async (key) => {
          const group = groupOf(key)
          return store.decideNow?.(group) ?? (await store.decide([group]))[0]
        },
        passed: (answer) => {
          const { outcome, failure } = answer as GroupVerdict
          if (failure !== undefined) throw failure
          return outcome === 'allowed'
        },
        close: async (keys) => {
          const ids = keys.flatMap((key) => groupOf(key).calls.map(({ id }) => id))
          await untilDone(async () => {
            const results = await store.change(ids.map((id) => ({ kind: 'reset', id })))
            for (const { failure } of results) if (failure !== undefined) throw failure
          })
          await store.close()
          await wire.close()
        },
      }
    },
  }
}

/** A client's wall clock as the time of a limiter. Differences of time are measured on the machine's steady clock, as usual. */
function timeOf(clock: () => number): Time {
  return {
    now: () => Math.round(clock() * 1_000),
    monotonic: () => performance.now(),
    wall: clock,
    after: (ms, done) => {
      const timer = setTimeout(done, ms)
      return () => clearTimeout(timer)
    },
  }
}

/** Repeats a cleanup that missed its deadline, as happens on a busy machine. To delete a key twice does no harm. */
async function untilDone(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; tries < 10; tries += 1) {
    try {
      return await work()
    } catch {
      await later(PAUSE_MS)
    }
  }
  await work()
}
