import { setTimeout as later } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { createLimiter, type Decision, type GroupVerdict, type Store, tokenBucket } from 'sluice'
import { ioredis, redisStore } from 'sluice/redis'
import type { TraceEntry } from 'sluice/testing'
import { type RingName, RINGS } from '../redis/rings.ts'
import { openWire, type WireOptions } from '../wire.ts'
import type { Contestant } from './contestant.ts'
import { groupsUnder } from './groups.ts'

const PAUSE_MS = 100

/** As the adapter requires: a silent connection is replaced, and nothing is sent twice. */
export const SOUND: WireOptions = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 }

/** Sluice as it is published, defaults and deadline included, on the server's clock. All callers share a connection. */
export const sluice: Contestant = sluiceWith('Sluice', 'sluice')

export function sluiceWith(name: string, ring: RingName): Contestant {
  return {
    name,
    instants: 'reported',
    open: async (url, { tokens, per, burst }, { note = false }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const opened = redisStore({ client: ioredis(wire.clients[0] as Redis), ring: RINGS[ring] })
      const store = note ? listening(opened, admitted) : opened
      const limiter = createLimiter({ name: 'bench', limit: tokenBucket({ rate: { tokens, per }, burst }), store })
      // Brings the program to the server, so that no request of the run has to.
      await limiter.ready()
      return {
        wire,
        ...(note ? { admitted } : {}),
        invoke: (key) => limiter.check(key),
        passed: (answer) => {
          const decision = answer as Decision
          if (decision.outcome === 'undecided') throw new Error(decision.degraded.message)
          return decision.allowed
        },
        close: async (keys) => {
          for (const key of keys) await untilDone(() => limiter.reset(key))
          await limiter.close()
          await store.close()
          await wire.close()
        },
      }
    },
  }
}

/** The store without a limiter that turns verdicts into decisions. It is called as a limiter calls it, with the ring's deadline. */
export function storeWith(name: string, ring: RingName): Contestant {
  return {
    name,
    instants: 'reported',
    open: async (url, quota, { note = false }) => {
      const wire = await openWire(url, 1, SOUND)
      const admitted: TraceEntry[] = []
      const opened = redisStore({ client: ioredis(wire.clients[0] as Redis), ring: RINGS[ring] })
      const store = note ? listening(opened, admitted) : opened
      const groupOf = groupsUnder(quota)
      await store.ready()
      return {
        wire,
        ...(note ? { admitted } : {}),
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
  const note = (verdict: GroupVerdict | undefined): void => {
    if (verdict?.outcome === 'allowed') admitted.push({ at: verdict.at, cost: 1, allowed: true })
  }
  return {
    ...store,
    decideNow: (group, now) => {
      const verdict = store.decideNow?.(group, now)
      note(verdict)
      return verdict
    },
    decide: async (groups, options) => {
      const verdicts = await store.decide(groups, options)
      if (options?.charge !== false) verdicts.forEach(note)
      return verdicts
    },
  }
}
