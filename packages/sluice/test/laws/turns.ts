import type { AnyLimit, Envelope } from '../../src/algorithms/algorithm.ts'
import { alignedEnd } from '../../src/algorithms/window.ts'
import { type Align, shiftOf } from '../../src/algorithms/fixed-window-plan.ts'
import type { TraceEntry } from '../../src/testing/audit.ts'

/** One of two plans that take turns on a key. */
export interface Turn {
  readonly name: string
  readonly limit: AnyLimit
  /** The length of its window, or the time in which its bucket fills, in microseconds. */
  readonly length: number
  /** Where windows begin. Counters have `clock`. Logs and buckets, whose windows slide, have `first`. */
  readonly align: Align
}

/**
 * For which callers a bound is promised. `turns`: both limits are called in every window of the longer one. Intervals count after the first
 * window in which both were called. `meeting`: the same callers, and intervals count from anywhere. `any`: every caller.
 */
export type Promised = 'turns' | 'meeting' | 'any'

/**
 * The greediest calls that were found. `ratio` is for the worst interval: what was admitted, less what the rate refills, divided by the
 * burst. Above 1, too much was admitted. It is rounded down by as much as floating-point numbers may err: a micro-token, and a 2^40th of
 * large amounts.
 */
export interface Greed {
  readonly ratio: number
  /** All calls, and those from which on intervals count. */
  readonly calls: readonly TurnCall[]
  readonly trace: readonly TraceEntry[]
}

/**
 * The promised bound. For `turns` it is the larger burst and the larger rate; for `meeting` both bursts and the larger rate; for `any` the
 * sum of both limits.
 */
function promisedBy(promised: Promised, one: Turn, other: Turn): Envelope {
  const [a, b] = [one, other].map(({ limit }) => limit.algorithm.envelope(limit.plan)) as [Envelope, Envelope]
  const both = a.burst + b.burst
  if (promised === 'any') return { n: a.n * b.m + b.n * a.m, m: a.m * b.m, burst: both }
  const { n, m } = a.n * b.m > b.n * a.m ? a : b
  return { n, m, burst: promised === 'turns' ? Math.max(a.burst, b.burst) : both }
}

/** A call with its decision, and the numbers of the state after it. */
export interface TurnCall extends TraceEntry {
  readonly which: number
  readonly state: string
}

interface Entry extends TurnCall {
  readonly before: Entry | undefined
}

/** A way to call so far. */
interface Path {
  state: unknown
  /** The state's numbers, as text. */
  key: string
  expiresAt: number
  /** The most that was admitted in an interval that ends now, less what the promised rate refills in it. */
  level: number
  worst: number
  /** When each plan was called last. */
  last: [number, number]
  /** From when intervals count. */
  from: number
  entries: Entry | undefined
}

const MICRO = 1_000_000
/**
 * What a caller may do at one instant. Each step is which of the two limits is called, and whether for all that is left or for one token.
 */
const MOVES: readonly (readonly [number, boolean][])[] = [
  [[0, true]],
  [[1, true]],
  [[0, false]],
  [[1, false]],
  [
    [0, true],
    [1, true],
  ],
  [
    [1, true],
    [0, true],
  ],
  [
    [0, false],
    [1, true],
  ],
  [
    [1, false],
    [0, true],
  ],
]

/**
 * Searches for the greediest caller of two limits on one key. At every instant, the caller may call either limit, for one token or for all
 * that is left, or wait. Only the `width` best ways are followed further.
 */
export function greediest(
  pair: readonly [Turn, Turn],
  promised: Promised,
  instants: readonly number[],
  phase: number,
  width: number,
): Greed {
  const { n, m, burst } = promisedBy(promised, ...pair)
  const rate = n / m
  const longer = pair[0].length > pair[1].length ? pair[0] : pair[1]
  const window = windowsOf(longer, phase)
  const start = instants[0] as number
  const fresh: Path = {
    state: undefined,
    key: '',
    expiresAt: 0,
    level: 0,
    worst: 0,
    last: [-1, -1],
    from: promised === 'turns' ? window(start) : start,
    entries: undefined,
  }
  let paths = [fresh]
  let at = start
  let best = fresh
  for (const now of instants) {
    const made: Path[] = []
    for (const path of paths) {
      const level = Math.max(0, path.level - rate * (now - at))
      if (promised !== 'any' && !kept(path, now, start, longer, window)) continue
      made.push({ ...path, level })
      for (const move of MOVES) made.push(played(pair, { ...path, level }, move, now, phase, burst))
    }
    at = now
    paths = ahead(made, width)
    for (const path of paths) if (path.worst > best.worst) best = path
  }
  const calls: Entry[] = []
  for (let entry = best.entries; entry !== undefined; entry = entry.before) calls.unshift(entry)
  return {
    ratio: Math.floor(best.worst * burst * (1 - 2 ** -40) + 0.01) / burst,
    calls,
    trace: calls.filter((entry) => entry.at >= best.from),
  }
}

/**
 * Returns the end of the longer limit's window that contains an instant. If its windows slide, it is the end of a window that begins at
 * that instant.
 */
function windowsOf({ length, align }: Turn, phase: number): (at: number) => number {
  if (align === 'first') return (at) => at + length
  return (at) => alignedEnd(length, at, align === 'key' ? shiftOf(length, phase) : 0)
}

/** Whether both plans were called in every window of the longer that is over. */
function kept({ last }: Path, now: number, start: number, { length, align }: Turn, window: (at: number) => number): boolean {
  const earlier = Math.min(last[0], last[1])
  if (earlier === -1) return now < window(start)
  return now < (align === 'first' ? earlier + length : window(window(earlier)))
}

function played(
  pair: readonly [Turn, Turn],
  path: Path,
  move: readonly (readonly [number, boolean])[],
  now: number,
  phase: number,
  burst: number,
): Path {
  const next: Path = { ...path, last: [...path.last] }
  for (const [which, all] of move) {
    const { limit } = pair[which] as Turn
    const { algorithm, plan } = limit
    if (now >= next.expiresAt) [next.state, next.key] = [undefined, '']
    next.last[which] = now
    const state = next.state === undefined ? undefined : algorithm.adopt(plan, next.state, now, phase)
    const left = algorithm.view(plan, state, now, phase).remaining
    const cost = all ? Math.max(1, left) : 1
    const step = algorithm.decide(plan, state, now, cost * MICRO, phase)
    if (step.state !== undefined && step.state !== next.state) {
      next.state = step.state
      next.key = algorithm.codec.encodeState(step.state).join()
      next.expiresAt = algorithm.expiresAt(plan, step.state)
    }
    const allowed = step.outcome === 'allowed'
    next.entries = { at: now, cost, allowed, which, state: next.key, before: next.entries }
    if (!allowed) continue
    if (now < next.from) continue
    next.level += cost * MICRO
    next.worst = Math.max(next.worst, next.level / burst)
  }
  return next
}

/** Keeps the `width` ways that admitted most. If two ways have the same state and the same last calls, only one is kept. */
function ahead(paths: Path[], width: number): Path[] {
  const seen = new Set<string>()
  const first: Path[] = []
  for (const path of paths.sort((a, b) => b.level - a.level)) {
    const name = `${path.key} ${path.last.join()}`
    if (seen.has(name)) continue
    seen.add(name)
    first.push(path)
    if (first.length === width) break
  }
  return first
}
