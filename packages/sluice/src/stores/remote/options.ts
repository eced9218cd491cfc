import { checkOptions, CLOCK, COUNT, type Form, FUNCTION, MILLISECONDS, OBJECT, requireForm, within } from '../../errors/options.ts'
import { parsePeriod } from '../../time/duration.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { Random, Time } from '../../time/time.ts'
import type { BreakerOptions } from './breaker.ts'

/** How calls are joined in batches. */
export interface BatchingOptions {
  /** The most calls in a batch; default 128. */
  readonly maxCalls?: number
  /** The most calls that may wait in this process. Further calls fail as `overload`, not executed. Default 10,000. */
  readonly maxQueued?: number
}

/** How denials are remembered. */
export interface DenialOptions {
  /**
   * Milliseconds for which a denial is remembered at most. So this is how long a reset or refund by another process may have no effect
   * here. Default 1,000.
   */
  readonly maxDeniedMs?: number
  /** The most denials remembered at once. Beyond it, the oldest is dropped. Default 10,000. */
  readonly maxDenials?: number
}

/** How many tokens this process may lease, and for which keys. */
export interface LeaseOptions {
  /**
   * Milliseconds that a lease lasts at the store; default 1,000. If a process crashes, the tokens that it had leased count as spent, and
   * until the lease ends the bucket holds that many fewer.
   */
  readonly lifeMs?: number
  /** The fraction of a bucket's burst that this process leases at most; default a quarter. */
  readonly share?: number
  /** A key is leased after this many calls within `lifeMs`; default 16. */
  readonly afterCalls?: number
  /** The most keys that are counted or leased. Calls of further keys go to the store. Default 10,000. */
  readonly maxKeys?: number
}

/** Options of the ring; `false` leaves a part out. */
export interface RemoteStoreOptions {
  /**
   * How long a call may take at most: a duration or milliseconds. Default: the caller's deadline, or 50 ms. While the first connection is
   * made, these 50 ms may become one second.
   */
  readonly deadline?: string | number
  /** Concurrent calls are sent in batches; `false` sends each alone. */
  readonly batching?: BatchingOptions | false
  /** A server that fails is not called but probed, until it works again; `false` calls it each time. */
  readonly breaker?: BreakerOptions | false
  /** A denied call is denied in this process, until it may pass; `false` calls the store each time. */
  readonly denials?: DenialOptions | false
  /**
   * Whether, and how many, tokens are leased. Default `false`, because tokens leased here are missing in other processes, and a block by
   * another process takes effect later.
   */
  readonly leases?: LeaseOptions | false
  /** The time for deadlines, denials and leases; default the system's. */
  readonly clock?: Time
  /** Random numbers, so that processes do not probe at the same time; default Math.random. */
  readonly random?: Random
}

const PART: Form = [(value) => value === false || OBJECT[0](value), 'its options, or false']
const FORMS: Readonly<Record<string, Form>> = {
  deadline: [(value) => typeof value === 'string' || MILLISECONDS[0](value), `a duration such as 50ms, or ${MILLISECONDS[1]}`],
  batching: PART,
  breaker: PART,
  denials: PART,
  leases: PART,
  clock: CLOCK,
  random: FUNCTION,
}
const PARTS: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  batching: { maxCalls: COUNT, maxQueued: COUNT },
  breaker: { failures: COUNT, windowMs: MILLISECONDS, probeMs: MILLISECONDS, deadlineMs: MILLISECONDS, onChange: FUNCTION },
  denials: { maxDeniedMs: MILLISECONDS, maxDenials: COUNT },
  leases: { lifeMs: within(10, 60_000), share: within(0.001, 1), afterCalls: COUNT, maxKeys: COUNT },
}

/**
 * Checks the options of a ring. Returns the deadline in milliseconds that they set for each call; undefined if they set none.
 * @throws LimiterError INVALID_OPTIONS, or INVALID_DURATION
 */
export function checkRingOptions(where: string, options: RemoteStoreOptions): number | undefined {
  checkOptions(where, options, FORMS)
  for (const [part, forms] of Object.entries(PARTS)) {
    const chosen = options[part as keyof RemoteStoreOptions]
    if (typeof chosen === 'object') checkOptions(`${where}: ${part}`, chosen, forms)
  }
  const { deadline } = options
  if (typeof deadline !== 'string') return deadline
  const ms = parsePeriod(deadline, `${where}: deadline: `) / MICROS_PER_MS
  requireForm(where, 'deadline', ms, MILLISECONDS)
  return ms
}
