import type { Redis } from 'ioredis'
import { openWire } from '../wire.ts'
import { type Contestant, isTrue } from './contestant.ts'

/** The most keys that are sent in one call, as in Sluice. */
const MAX_CALLS = 128

/**
 * A program that does nothing. It is called with the keys of all requests that were made while the last call was in flight. It shows what
 * batching can save if a decision costs nothing. Every request may pass.
 */
export const emptyJoined: Contestant = {
  name: 'an empty program for all that wait',
  kind: 'floor',
  open: async (url) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    const digest = (await client.script('LOAD', 'return 1')) as string
    let waiting: { readonly key: string; readonly resolve: (allowed: boolean) => void; readonly reject: (error: unknown) => void }[] = []
    let underWay = false
    const send = async (): Promise<void> => {
      // The calls of one tick are one batch.
      await Promise.resolve()
      while (waiting.length > 0) {
        const batch = waiting.slice(0, MAX_CALLS)
        waiting = waiting.slice(MAX_CALLS)
        const keys = [...new Set(batch.map(({ key }) => key))]
        try {
          const answer = await client.evalsha(digest, keys.length, ...keys)
          for (const { resolve } of batch) resolve(answer === 1)
        } catch (error) {
          for (const { reject } of batch) reject(error)
        }
      }
      underWay = false
    }
    return {
      wire,
      invoke: (key) =>
        new Promise((resolve, reject) => {
          waiting.push({ key, resolve, reject })
          if (underWay) return
          underWay = true
          void send()
        }),
      passed: isTrue,
      close: () => wire.close(),
    }
  },
}

/** A floor without a store: an async function that reads the clock and allows or denies. */
export function clockAlone(allowed: boolean): Contestant {
  return {
    name: 'an async function and the clock',
    kind: 'floor',
    open: async (url) => {
      const wire = await openWire(url, 0)
      return {
        wire,
        invoke: async () => (performance.now() >= 0 ? allowed : !allowed),
        passed: isTrue,
        close: () => wire.close(),
      }
    },
  }
}

/** A request that decides nothing: the time of a round trip, which no limiter in a store can avoid. Every request may pass. */
export const ping: Contestant = {
  name: 'PING',
  kind: 'floor',
  open: async (url) => {
    const wire = await openWire(url, 1)
    const client = wire.clients[0] as Redis
    return { wire, invoke: () => client.ping(), passed: (answer) => answer === 'PONG', close: () => wire.close() }
  },
}
