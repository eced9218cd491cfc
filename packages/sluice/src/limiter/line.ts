import type { Decision, Denied } from '../decision/decision.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { MonotonicInstant, Random, Time } from '../time/time.ts'
import type { CheckOptions, Limiter } from './limiter.ts'
import { createQueue, type Queue } from './queue.ts'
import type { Releases } from './releases.ts'
import type { Sleep } from './sleep.ts'

/** Pause after a denial without `retryAfterMs`. */
const RETRY_MS = 100
/** Longest pause between two tries for a slot; the shortest is half. */
const SLOT_RETRY_MS = 50

export interface LineParts {
  readonly clock: Time
  readonly random: Random
  readonly sleep: Sleep
  readonly check: Limiter['check']
  readonly deadline: (options: CheckOptions) => MonotonicInstant
  /** Gives back what a decision was charged. Never rejects. */
  readonly giveBack: (key: string, cost: number | undefined, decision: Decision) => Promise<void>
  /** Undefined if no limit has slots. */
  readonly releases: Releases | undefined
}

/** Callers of each key, in order of arrival. Only the first one calls the store. */
export interface Line {
  /**
   * Resolves when the caller's turn has come, or with a denial if the wait would be longer than `maxWaitMs`.
   * @param fits false if the cost is above the capacity; such a caller waits for nobody
   */
  join(key: string, options: CheckOptions, maxWaitMs: number, fits: boolean): Promise<Decision>
}

interface Callers {
  readonly places: Queue<Place>
  /** The latest denial of the first caller, while that caller waits. */
  denial: { readonly decision: Denied; readonly at: MonotonicInstant } | undefined
  /** Resolves at the store's next answer to the first caller. */
  next: NextAnswer
}

interface Place {
  /** Called when all callers before this one have left the line. */
  onFirst?: () => void
}

interface NextAnswer {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

/** Keeps the order of callers within this process only. */
export function createLine({ clock, random, sleep, check, deadline, giveBack, releases }: LineParts): Line {
  const lines = new Map<string, Callers>()

  const first = async (line: Callers, key: string, { signal, ...options }: CheckOptions, latest: MonotonicInstant): Promise<Decision> => {
    // A denial in the line is that of an earlier caller.
    line.denial = undefined
    for (;;) {
      signal?.throwIfAborted()
      // A slot may be given back while the denial is on its way.
      const released = releases?.next(key)
      try {
        const decision = await check(key, options)
        const now = clock.monotonic()
        line.denial = decision.outcome === 'denied' ? { decision, at: now } : undefined
        const { resolve } = line.next
        line.next = nextAnswer()
        resolve()
        if (signal?.aborted === true) {
          await giveBack(key, options.cost, decision)
          throw signal.reason
        }
        if (decision.outcome !== 'denied') return decision
        const slots = decision.reason === 'concurrency'
        const at = now + (slots ? SLOT_RETRY_MS * (0.5 + random() / 2) : (decision.retryAfterMs ?? RETRY_MS))
        if (slots ? now >= latest : at > latest) return decision
        await sleep.until(Math.min(at, latest), signal, slots ? released?.promise : undefined)
      } finally {
        released?.cancel()
      }
    }
  }
  const behind = async (line: Callers, place: Place, ...own: [string, CheckOptions, MonotonicInstant]): Promise<Decision> => {
    const [, options, latest] = own
    const { signal } = options
    // A promise of this caller's own: reactions on a promise of another caller would stay in memory after this one has left.
    const turn = new Promise<void>((resolve) => (place.onFirst = resolve))
    const isFirst = (): boolean => line.places.first === place
    await sleep.until(latest, signal, turn)
    const denied = (): Denied | undefined => line.denial && agedBy(clock.monotonic() - line.denial.at, line.denial.decision)
    // If it is still not this caller's turn, `maxWaitMs` has passed: the caller gets the first caller's denial. Without a current denial,
    // this caller waits for one, at most for the deadline of a check.
    const bound = deadline(options)
    while (!isFirst() && denied() === undefined && clock.monotonic() < bound) {
      await sleep.until(bound, signal, Promise.race([turn, line.next.promise]))
    }
    return (isFirst() ? undefined : denied()) ?? first(isFirst() ? line : newLine(), ...own)
  }
  return {
    join(key, options, maxWaitMs, fits) {
      const latest = clock.monotonic() + maxWaitMs
      if (!fits) return first(newLine(), key, options, latest)
      const { line, place, leave } = enter(lines, key)
      const isFirst = line.places.first === place
      const mine = isFirst ? first(line, key, options, latest) : behind(line, place, key, options, latest)
      // A caller that asks by itself after `maxWaitMs` keeps its place until it has its answer.
      void mine.then(leave, leave)
      return mine
    },
  }
}

/** Adds a place at the end of the key's line. `leave` calls the next caller if the place was the first. */
function enter(lines: Map<string, Callers>, key: string): { readonly line: Callers; readonly place: Place; readonly leave: () => void } {
  const line = lines.get(key) ?? newLine()
  lines.set(key, line)
  const { places } = line
  const place: Place = {}
  const entry = places.add(place)
  const leave = (): void => {
    places.remove(entry)
    if (places.size === 0) lines.delete(key)
    else places.first?.onFirst?.()
  }
  return { line, place, leave }
}

function newLine(): Callers {
  return { places: createQueue(), denial: undefined, next: nextAnswer() }
}

function nextAnswer(): NextAnswer {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}

/** The denial `ms` milliseconds later; undefined if its wait is over. */
function agedBy(ms: number, denied: Denied): Denied | undefined {
  // Rounded down, so that the remaining wait is never too short.
  const passed = Math.floor(ms)
  const { retryAfterMs, at, atMicros } = denied
  if (retryAfterMs !== undefined && passed >= retryAfterMs) return undefined
  const limits = denied.limits.map((view) => ({
    ...view,
    replenishAfterMs: Math.max(0, view.replenishAfterMs - passed),
    resetAfterMs: Math.max(0, view.resetAfterMs - passed),
  }))
  const aged = { ...denied, limits, at: at + passed, atMicros: atMicros + passed * MICROS_PER_MS }
  return retryAfterMs === undefined ? aged : { ...aged, retryAfterMs: retryAfterMs - passed }
}
