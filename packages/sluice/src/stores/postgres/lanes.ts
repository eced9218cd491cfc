import type { Time } from '../../time/time.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import { type CallOptions, StoreFailure } from '../store.ts'
import { classify } from './failures.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/** Where somebody has locked a row: `none` locks no rows, or skips those; `wait` until shortly before the deadline; `fail` after 1 ms. */
export type Locking = 'none' | 'wait' | 'fail'

export interface Statement {
  readonly text: string
  /** The same with one parameter more: for how many milliseconds it waits for a lock. */
  readonly bounded: string
}

export interface Lanes {
  /** Calls `send` when a connection is free, and settles by the deadline. */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, locking: Locking): Promise<T>
  send(statement: Statement, values: readonly string[], options: CallOptions | undefined, locking: Locking): Promise<readonly Row[]>
}

/** The least that the server accepts. */
const FAIL_MS = '1'
/** Time for the reply, and the part of the time left: a caller learns that nothing was charged, instead of an unknown outcome. */
const [REPLY_MS, REPLY_SHARE] = [2, 0.1]

/** Bounds the statements in flight. Those that may wait for a row use at most half of the connections; further ones wait unsent. */
export function createLanes(client: PostgresPort, maxInFlight: number, clock: Time): Lanes {
  const { connections, embedded = false } = client
  const all = createRemoteCalls('postgres', clock, { maxInFlight, maxSent: connections })
  const half =
    connections === undefined || embedded
      ? undefined
      : createRemoteCalls('postgres', clock, { maxInFlight, maxSent: Math.max(1, Math.floor(connections / 2)) })

  const left = (options: CallOptions | undefined): number => (options?.deadline ?? Number.POSITIVE_INFINITY) - clock.monotonic()
  /** How long the statement may wait for a lock, for the server; undefined: as long as it takes. */
  const lockTimeout = (options: CallOptions | undefined, locking: Locking): string | undefined => {
    if (locking === 'none' || embedded) return undefined
    if (locking === 'fail') return FAIL_MS
    if (options?.deadline === undefined) return undefined
    const ms = left(options)
    return String(Math.max(1, Math.floor(ms - Math.max(REPLY_MS, REPLY_SHARE * ms))))
  }
  return {
    run: (send, options, locking) => {
      if (half === undefined || locking !== 'wait') return all.run(send, options, classify)
      let [queued, sent, abandoned] = [false, false, false]
      const sendOnce: typeof send = () => {
        if (abandoned || (queued && left(options) < REPLY_MS))
          return Promise.reject(new StoreFailure('timeout', 'no', 'postgres: too little time was left when a connection was free'))
        sent = true
        return send()
      }
      const reply = half.run(() => all.run(sendOnce, options, classify), options, classify)
      queued = true
      return reply.catch((error: unknown) => {
        abandoned = true
        // It had left the first queue and was still in the second.
        if (!sent && error instanceof StoreFailure && error.executed === 'unknown') throw new StoreFailure(error.kind, 'no', error.message)
        throw error
      })
    },
    send: (statement, values, options, locking) => {
      const limit = lockTimeout(options, locking)
      return limit === undefined ? client.query(statement.text, values) : client.query(statement.bounded, [...values, limit])
    },
  }
}
