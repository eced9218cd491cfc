import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { createLimiter, type Limiter, type Store } from '../../src/index.ts'
import { type Load, type Sample, startLoad } from './load.ts'
import { DEADLINE_MS, plenty, report } from './stopped.ts'

/** Callers that make single checks. A test puts load or trouble elsewhere, which must not slow these callers down. */
export interface Singles {
  readonly load: Load
  readonly limiter: Limiter
  stop(): Promise<void>
}

export interface SinglesOptions {
  readonly callers?: number
  readonly pauseMs?: number
  readonly keyOf?: (index: number) => string
}

/** Each calls with a pause in between, with the default deadline. */
export async function startSingles(store: Store, options: SinglesOptions = {}): Promise<Singles> {
  const { callers = 16, pauseMs = 3, keyOf } = options
  const limiter = createLimiter({ limit: plenty, store })
  const load = startLoad(limiter, { callers, deadlineMs: DEADLINE_MS, pauseMs, ...(keyOf && { keyOf }) })
  await load.recovery()
  return { load, limiter, stop: () => load.stop() }
}

export interface Shares {
  readonly calls: number
  /** The share of calls that were not decided, although the event loop was free for at least half of the time that the call took. */
  readonly undecided: number
  /** The milliseconds that 99 in 100 calls took at most, less the time for which the event loop was blocked. */
  readonly p99: number
  /** For how many milliseconds in each second the event loop was blocked. */
  readonly lag: number
}

/** Whether the event loop was free for more than half of the time that a call took. */
export function isFree(load: Load, { started, ended }: Sample): boolean {
  return load.held(started, ended).all < (ended - started) / 2
}

/** Of calls that began within a window. */
export function sharesOf(load: Load, from: number, to: number, which: (sample: Sample) => boolean = () => true): Shares {
  const calls = load.samples.filter((sample) => sample.started >= from && sample.started <= to && which(sample))
  const took = calls.map(({ started, ended }) => ended - started - load.held(started, ended).all).sort((a, b) => a - b)
  return {
    calls: calls.length,
    undecided: calls.filter((sample) => sample.decision.outcome === 'undecided' && isFree(load, sample)).length / calls.length,
    p99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
    lag: (load.held(from, to).all / (to - from)) * 1_000,
  }
}

/** Runs something for so long, and resolves with the window. */
export async function window(ms: number, during: () => void = () => {}): Promise<readonly [from: number, to: number]> {
  const from = performance.now()
  during()
  await pause(ms)
  return [from, performance.now()]
}

/** Loops that run until they are stopped. */
export function loops(many: number, once: (index: number) => Promise<unknown>): { stop(): Promise<void>; readonly turns: number } {
  const state = { running: true, turns: 0 }
  const all = Array.from({ length: many }, async (_, index) => {
    while (state.running) {
      await once(index)
      state.turns += 1
    }
  })
  return {
    stop: async () => {
      state.running = false
      await Promise.all(all)
    },
    get turns() {
      return state.turns
    },
  }
}

/** In milliseconds. Server and clients share two cores, so a p99 below this depends only on how the system schedules them. */
const FLOOR_MS = 2

/**
 * Expects that at most one in a hundred single calls is undecided under load. All but one in a hundred may take three times as long as
 * without the load.
 */
export function expectIsolated(name: string, quiet: Shares, loaded: Shares, most = 0.01): void {
  report(name, { calls: loaded.calls, undecided: loaded.undecided, p99: loaded.p99, unloadedP99: quiet.p99, lagMsPerS: loaded.lag })
  expect(loaded.calls).toBeGreaterThan(100)
  expect(loaded.undecided).toBeLessThanOrEqual(most)
  expect(loaded.p99).toBeLessThanOrEqual(3 * Math.max(FLOOR_MS, quiet.p99))
}
