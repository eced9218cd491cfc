import { setTimeout as later } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createLimiter, type Decision, type GroupVerdict, type Store, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import type { TraceEntry } from 'sluice/testing'
import { openWire, type WireOptions } from '../wire.ts'
import type { Contestant } from './contestant.ts'
import { groupsUnder } from './groups.ts'

const PAUSE_MS = 100

/** As the adapter asks for: a connection that fell silent is replaced, and nothing is sent twice. */
export const SOUND: WireOptions = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 }

/** Sluice as it is published, defaults and deadline included, on the server's clock. All callers share a connection. */
export const sluice: Contestant = sluiceOver('Sluice', (store) => store)

/** Sluice with its store wrapped, or not. */
export function sluiceOver(name: string, wrap: (store: Store) => Store): Contestant {
  return {
    name,
    instants: 'told',
    open: async (url, { tokens, per, burst }, { note = false }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const wrapped = wrap(redisStore({ client: ioredis(wire.clients[0] as Redis) }))
      const store = note ? listening(wrapped, admitted) : wrapped
      const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ rate: { tokens, per }, burst }), store })
      // Brings the program to the server, so that no request of the run has to.
      await limiter.ready()
      return {
        wire,
        ...(note ? { admitted } : {}),
        ask: (key) => limiter.check(key),
        passed: (answer) => {
          const decision = answer as Decision
          if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
          return decision.allowed
        },
        close: async (keys) => {
          for (const key of keys) await untilDone(() => limiter.reset(key))
          await limiter.close()
          await wire.close()
        },
      }
    },
  }
}

/** The store by itself, wrapped or not: what is left where no limiter turns verdicts into decisions. It has no deadline of its own. */
export function storeOver(name: string, wrap: (store: Store) => Store): Contestant {
  return {
    name,
    instants: 'told',
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const wrapped = wrap(redisStore({ client: ioredis(wire.clients[0] as Redis) }))
      const store = note ? listening(wrapped, admitted) : wrapped
      const groupOf = groupsUnder(quota)
      await store.ready()
      return {
        wire,
        ...(note ? { admitted } : {}),
        ask: (key) => store.consume([groupOf(key)]),
        passed: (answer) => (answer as readonly GroupVerdict[])[0]?.allowed === true,
        close: async (keys) => {
          await untilDone(() => store.reset(keys.flatMap((key) => groupOf(key).calls.map(({ id }) => id))))
          await store.close()
          await wire.close()
        },
      }
    },
  }
}

/** On a busy machine a deadline may pass; what was forgotten twice is forgotten. */
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

/** Notes what the store admitted: its verdicts know the microsecond, a decision the millisecond. */
function listening(store: Store, admitted: TraceEntry[]): Store {
  return {
    ...store,
    consume: async (groups, options) => {
      const verdicts = await store.consume(groups, options)
      for (const { allowed, at } of verdicts) if (allowed) admitted.push({ at, cost: 1, allowed })
      return verdicts
    },
  }
}
