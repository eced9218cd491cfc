import { checkOptions, CLOCK, COUNT, type Form, FUNCTION, MILLISECONDS, OBJECT, requireForm, within } from '../../errors/options.ts'
import { parsePeriod } from '../../time/duration.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import type { Random, Time } from '../../time/time.ts'
import type { BreakerOptions } from './breaker.ts'

/** How calls are joined in batches. */
export interface BatchingOptions {
  /** The most calls in a batch; default 128. */
  readonly maxCalls?: number | undefined
  /**
   * The most calls that may wait in this process. Further calls fail as `overload`, not executed. Of a list, the calls for one lane (the
   * servers that fail together) that do not fit fail as a whole. Default 10,000.
   */
  readonly maxQueued?: number | undefined
}

/** How denials are remembered. */
export interface DenialOptions {
  /** How many milliseconds a denial is remembered at most, even if another process resets or refunds the key. Default 1,000. */
  readonly maxDeniedMs?: number | undefined
  /** The most denials remembered; beyond it, the oldest is dropped. Default 10,000. */
  readonly maxDenials?: number | undefined
}

/** How many tokens this process may lease, and for which keys. */
export interface LeaseOptions {
  /** Milliseconds that a lease lasts; default 1,000. Leased tokens of a process that crashes count as spent. */
  readonly lifeMs?: number | undefined
  /** The fraction of a bucket's burst that this process leases at most; default a quarter. */
  readonly share?: number | undefined
  /** A key is leased after this many calls within `lifeMs`; default 16. */
  readonly afterCalls?: number | undefined
  /** The most keys that are counted or leased. Calls of further keys go to the store. Default 10,000. */
  readonly maxKeys?: number | undefined
}

/** Options of the ring; `false` leaves a part out. */
export interface RemoteStoreOptions {
  /**
   * How long a call may take (a duration or milliseconds), unless its own deadline is shorter. Default: the call's deadline, else 50 ms, or
   * up to one second while the first connection is made.
   */
  readonly deadline?: string | number | undefined
  /** Concurrent calls are sent in batches; `false` sends each alone. */
  readonly batching?: BatchingOptions | false | undefined
  /** A server that fails is probed, not called, until it works again; `false` calls it each time. */
  readonly breaker?: BreakerOptions | false | undefined
  /** A denied call is denied in this process, until it may pass; `false` calls the store each time. */
  readonly denials?: DenialOptions | false | undefined
  /**
   * Leases tokens for busy keys. Default `false`: leased tokens are missing in other processes, and a block by one of them takes effect
   * later.
   */
  readonly leases?: LeaseOptions | false | undefined
  /** The time for deadlines, denials and leases; default the system's. */
  readonly clock?: Time | undefined
  /** Random numbers, for probes and leases; default Math.random. */
  readonly random?: Random | undefined
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
 * Returns the deadline of each call in milliseconds; undefined if none is set.
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
