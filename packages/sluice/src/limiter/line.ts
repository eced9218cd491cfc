import type { Decision } from '../decision/decision.ts'
import type { MonotonicInstant, Random, Time } from '../time/time.ts'
import type { CheckOptions, Limiter } from './limiter.ts'
import type { Releases } from './releases.ts'
import type { Sleep } from './sleep.ts'

/** Milliseconds until the next try where a denial has no `retryAfterMs`. */
const RETRY_MS = 100
/** The longest time until the next try where all slots are held, which another process may give back; the shortest is half of it. */
const SLOT_RETRY_MS = 50

export interface LineParts {
  readonly clock: Time
  readonly random: Random
  readonly sleep: Sleep
  readonly check: Limiter['check']
  /** Gives back what a decision was charged. Never rejects. */
  readonly giveBack: (key: string, cost: number | undefined, decision: Decision) => Promise<void>
  /** Slots that are given back in this process; undefined if no limit has slots. */
  readonly releases: Releases | undefined
}

/** Callers of each key in the order in which they came. The first one asks the store; the others wait for it. */
export interface Line {
  /** Resolves with the decision when the caller's turn has come, or with the denial that it cannot wait out. */
  join(key: string, options: CheckOptions, maxWaitMs: number): Promise<Decision>
}

/** The callers of one key. */
interface Callers {
  /** Settles when the last one has left, and all before it. */
  last: Promise<unknown>
  /** The last answer to the first one, if it waits. */
  denial: Decision | undefined
}

/** For limits that cannot be charged ahead: the order holds in this process. */
export function createLine({ clock, random, sleep, check, giveBack, releases }: LineParts): Line {
  const lines = new Map<string, Callers>()

  const first = async (line: Callers, key: string, { signal, ...options }: CheckOptions, latest: MonotonicInstant): Promise<Decision> => {
    for (;;) {
      signal?.throwIfAborted()
      // From before the check on: a slot may be given back while the denial is on its way.
      const released = releases?.next(key)
      try {
        const decision = await check(key, options)
        line.denial = decision.outcome === 'denied' ? decision : undefined
        if (signal?.aborted === true) {
          if (decision.outcome === 'allowed') await giveBack(key, options.cost, decision)
          throw signal.reason
        }
        if (decision.outcome !== 'denied') return decision
        const now = clock.monotonic()
        const slots = decision.reason === 'concurrency'
        const at = now + (slots ? SLOT_RETRY_MS * (0.5 + random() / 2) : (decision.retryAfterMs ?? RETRY_MS))
        if (slots ? now >= latest : at > latest) return decision
        await sleep.until(Math.min(at, latest), signal, slots ? released?.promise : undefined)
      } finally {
        released?.cancel()
      }
    }
  }
  const behind = async (before: Promise<unknown>, line: Callers, ...own: [string, CheckOptions, MonotonicInstant]): Promise<Decision> => {
    const [, { signal }, latest] = own
    const isFirst = await sleep.until(latest, signal, before)
    // The first one waits for longer than this one may.
    if (!isFirst && line.denial !== undefined) return line.denial
    await before
    return first(line, ...own)
  }
  return {
    join(key, options, maxWaitMs) {
      const latest = clock.monotonic() + maxWaitMs
      const known = lines.get(key)
      const line: Callers = known ?? { last: Promise.resolve(), denial: undefined }
      const before = line.last
      const mine = known === undefined ? first(line, key, options, latest) : behind(before, line, key, options, latest)
      // One who gives up must not let the next one pass those before it.
      const left = Promise.allSettled([before, mine])
      line.last = left
      lines.set(key, line)
      void left.then(() => (line.last === left ? lines.delete(key) : undefined))
      return mine
    },
  }
}
