import { memoryStore } from '../../../src/stores/memory/memory-store.ts'
import { type CallGroup, type DecideOptions, type Store, StoreFailure } from '../../../src/stores/store.ts'
import type { ManualClock } from '../../../src/time/manual.ts'
import { keysOf } from './held-store.ts'

/**
 * A simulated server, by the manual clock. `up`: it answers. `away`: the client has no connection. `refusing`: every call is reset.
 * `silent`: calls time out at their deadlines. `hung`: calls never settle, not even at their deadlines.
 */
export interface Server {
  state: 'up' | 'away' | 'refusing' | 'silent' | 'hung'
  /** How many milliseconds a batch takes, and how many each of its calls takes in addition. A server executes one batch after the other. */
  latencyMs: number
  perCallMs: number
  /** How many of the next batches get an answer that makes no sense. */
  nonsense: number
}

export interface Sent {
  readonly verb: 'decide' | 'peek'
  readonly servers: string
  readonly keys: readonly string[]
  readonly at: number
}

export interface Wire {
  readonly store: Store
  /** All calls so far. */
  readonly sent: Sent[]
  server(name: string): Server
  /** Resets the connection, so that the calls in flight fail now. Returns their keys. */
  resetInFlight(): string[]
}

/**
 * A memory store behind simulated servers. A server's name is the first letter of its keys.
 * @param lanes whether the store says which server has a key
 */
export function wireStore(clock: ManualClock, lanes = false): Wire {
  const inner = memoryStore({ clock })
  const servers = new Map<string, Server>()
  const busyUntil = new Map<Server, number>()
  const inFlight = new Map<(error: Error) => void, readonly string[]>()
  const sent: Sent[] = []
  const server = (name: string): Server => {
    const found = servers.get(name) ?? { state: 'up', latencyMs: 1, perCallMs: 0, nonsense: 0 }
    servers.set(name, found)
    return found
  }
  const namesOf = (keys: readonly string[]): string[] => [...new Set(keys.map((key) => key.charAt(0)))].sort()
  const answer = (groups: readonly CallGroup[], options: DecideOptions): Promise<never> => {
    const keys = keysOf(groups)
    const names = lanes ? namesOf(keys) : ['']
    sent.push({ verb: options.charge === false ? 'peek' : 'decide', servers: names.join(''), keys, at: clock.monotonic() })
    const all = names.map(server)
    const is = (state: Server['state']): boolean => all.some((one) => one.state === state)
    if (is('away')) return Promise.reject(new StoreFailure('connection', 'no', 'there is no connection'))
    if (is('refusing')) return Promise.reject(new StoreFailure('connection', 'unknown', 'the connection was reset'))
    return new Promise((resolve, reject) => {
      if (is('hung')) return
      const done = (): void => void inFlight.delete(reject)
      inFlight.set(reject, keys)
      const now = clock.monotonic()
      const wait = Math.max(0, (options.deadline ?? Number.POSITIVE_INFINITY) - now)
      if (wait < 1e6)
        clock.after(wait, () => {
          done()
          reject(new StoreFailure('timeout', 'unknown', 'no answer by the deadline'))
        })
      if (is('silent')) return
      const ends = all.map((one) => {
        const end = Math.max(now, one.perCallMs > 0 ? (busyUntil.get(one) ?? 0) : 0) + one.latencyMs + one.perCallMs * keys.length
        busyUntil.set(one, end)
        return end
      })
      clock.after(Math.max(...ends) - now, () => {
        done()
        const broken = all.find(({ nonsense }) => nonsense > 0)
        if (broken !== undefined) {
          broken.nonsense -= 1
          return resolve([] as never)
        }
        inner.decide(groups, { charge: options.charge ?? true }).then(resolve as never, reject)
      })
    })
  }
  return {
    sent,
    server,
    resetInFlight() {
      const lost = [...inFlight]
      inFlight.clear()
      for (const [reject] of lost) reject(new StoreFailure('connection', 'unknown', 'the connection was reset'))
      return lost.flatMap(([, keys]) => keys)
    },
    store: {
      ...inner,
      name: 'wire',
      capabilities: { ...inner.capabilities, clock: 'server', sync: false },
      decide: (groups, options = {}) => answer(groups, options),
      ...(lanes && {
        laneOf(ids) {
          const names = namesOf(ids.map(({ key }) => key))
          return names.length === 1 ? names[0] : undefined
        },
      }),
    },
  }
}
