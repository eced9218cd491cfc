import type { Time } from '../../time/time.ts'
import { createRemoteCalls } from '../remote-calls.ts'
import { type CallOptions, StoreFailure } from '../store.ts'
import { classify } from './failures.ts'
import type { PostgresPort, Row } from './clients/postgres-port.ts'

/** At a locked row, `none` skips it or needs no lock, `wait` waits until shortly before the deadline, and `fail` fails after 1 ms. */
export type Locking = 'none' | 'wait' | 'fail'

export interface Statement {
  readonly text: string
  /** With one more parameter: the most milliseconds to wait for a lock. */
  readonly bounded: string
}

type Rows = Promise<readonly Row[]>

export interface Lanes {
  /** Calls `send` when a connection is free. Settles by the deadline. */
  run<T>(send: () => Promise<T>, options: CallOptions | undefined, locking: Locking): Promise<T>
  send(statement: Statement, values: readonly string[], options: CallOptions | undefined, locking: Locking): Rows
}

/** The shortest lock_timeout that the server accepts, in milliseconds. */
const FAIL_MS = '1'
/**
 * A wait for a lock ends these milliseconds, or this share of the time left if longer, before the deadline, so that the error arrives.
 */
const [REPLY_MS, REPLY_SHARE] = [2, 0.1]
const TOO_LATE = 'postgres: too little time was left when a connection was free'

/** Statements that may wait for a locked row use at most half of the client's connections. */
export function createLanes(client: PostgresPort, maxInFlight: number, clock: Time): Lanes {
  const { connections, embedded = false } = client
  const all = createRemoteCalls('postgres', clock, { maxInFlight, maxSent: connections })
  const maxSent = connections === undefined || embedded ? undefined : Math.max(1, Math.floor(connections / 2))
  const half = maxSent === undefined ? undefined : createRemoteCalls('postgres', clock, { maxInFlight, maxSent })

  const left = (options: CallOptions | undefined): number => (options?.deadline ?? Infinity) - clock.monotonic()
  /** In milliseconds; undefined if the statement needs none. */
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
        if (abandoned || (queued && left(options) < REPLY_MS)) return Promise.reject(new StoreFailure('timeout', 'no', TOO_LATE))
        sent = true
        return send()
      }
      const reply = half.run(() => all.run(sendOnce, options, classify), options, classify)
      queued = true
      return reply.catch((error: unknown) => {
        abandoned = true
        // `half` counts the call as sent, although it still waited in the queue of `all`: nothing was sent.
        const unsent = !sent && error instanceof StoreFailure && error.executed === 'unknown'
        throw unsent ? new StoreFailure(error.kind, 'no', error.message) : error
      })
    },
    send: (statement, values, options, locking) => {
      const limit = lockTimeout(options, locking)
      if (limit === undefined) return client.query(statement.text, values)
      return client.query(statement.bounded, [...values, limit])
    },
  }
}
