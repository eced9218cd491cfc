import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'vitest'
import { createLimiter, type Decided, type FailurePolicy, type Store, StoreFailure, tokenBucket } from '../../src/index.ts'
import type { AnyLimit } from '../../src/algorithms/algorithm.ts'
import { type Audit, audit, type TraceEntry } from '../../src/testing.ts'
import { expectInTime } from './in-time.ts'
import { type Load, type Punctuality, punctuality, startLoad } from './load.ts'
import { CALLERS, DEADLINE_MS, expectPunctual, plenty, report } from './stopped.ts'
import { until } from './until.ts'
import * as verbs from '../../src/testing/store-verbs.ts'

/** So small that its callers are denied most of the time. What passes is audited. */
export const NARROW_BURST = 50
const narrow = tokenBucket({ rate: '100/s', burst: NARROW_BURST })
const NARROW_CALLERS = 4

/** Slow to fill: what a server forgets is granted twice. */
export const SLOW_BURST = 100
export const slow = tokenBucket({ rate: '1/s', burst: SLOW_BURST })
/** By how many bytes the heap may have grown once all is over and all samples are forgotten. */
const STABLE_BYTES = 12e6

export interface UnderFault {
  readonly store: Store
  readonly policy?: FailurePolicy
  readonly deadlineMs?: number
  readonly callers?: number
  /** Milliseconds between two calls of one caller; default none. */
  readonly pauseMs?: number
  /** How many tokens too many the narrow limit may admit: the bound G of docs/guarantees.md. */
  readonly bound: number
  /** Within how many milliseconds after the end of the fault the store must decide again; by default 1,000. */
  readonly recoveryMs?: number
  /** Keys of the narrow limit; default one. */
  readonly narrowKeys?: readonly string[]
}

/** Starts callers on a key with one more limit, which they must use up. What they are granted is audited too. */
export type AlsoAudit = (key: string, limit: AnyLimit) => Pick<Narrow, 'usedUp'>

export interface Audited extends Audit {
  /** Calls of this limit that the store did not answer. */
  readonly lost: number
}

interface Narrow {
  /** Resolves once a call is denied. */
  usedUp(): Promise<void>
  stop(): Promise<Audited>
}

export interface Outcome extends Punctuality {
  readonly audits: Audited[]
  /** The kinds of failures of calls that began during the fault or after it. */
  readonly kinds: ReadonlySet<string>
  readonly degraded: number
  readonly recovery: number
}

/**
 * Runs a fault while callers use the store. Most callers have keys of their own with a large limit, and must never be denied. A few have
 * narrow limits, and what these admit is audited by the store's timestamps. Expects that
 * - every answer comes by its deadline
 * - no failure is a denial
 * - the store decides again within `recoveryMs` of the end
 * - the heap has not grown
 */
export async function underFault(options: UnderFault, fault: (also: AlsoAudit) => Promise<void>): Promise<Outcome> {
  const { store, policy = 'deny', deadlineMs = DEADLINE_MS, callers = CALLERS, pauseMs = 2, bound, recoveryMs = 1_000 } = options
  const limiter = createLimiter({ limit: plenty, store, onStoreFailure: policy, deadlineMs })
  const before = heap()
  const load = startLoad(limiter, { callers, deadlineMs, pauseMs })
  const narrows = (options.narrowKeys ?? ['one']).map((key) => startNarrow(store, key, narrow, deadlineMs))
  const more: Narrow[] = []
  try {
    await load.recovery()
    const from = performance.now()
    await fault((key, limit) => {
      const one = startNarrow(store, key, limit, deadlineMs)
      more.push(one)
      return one
    })
    const to = performance.now()
    const recovery = await load.recovery()
    const end = performance.now()
    // What is granted twice is granted now.
    await wait(150)
    for (const one of more) await one.usedUp()
    await load.stop()
    const audits = await Promise.all([...narrows, ...more].map((one) => one.stop()))
    const figures = punctuality(load, from, to, deadlineMs)
    const failed = failures(load, from)
    report('under fault', {
      ...figures,
      recovery,
      degraded: failed.degraded,
      kinds: [...failed.kinds].join(' ') || 'none',
      overGrant: Math.max(...audits.map(({ overGrant }) => overGrant)),
      bound,
    })
    expect(load.samples.filter(({ decision }) => decision.outcome === 'denied')).toEqual([])
    expect([...failed.allowed]).toEqual(failed.degraded === 0 ? [] : [policy !== 'deny'])
    for (const found of audits) expect(found.overGrant).toBeLessThanOrEqual(bound)
    expectPunctual(figures)
    expectInTime('the recovery', recovery - load.held(to, end).longest, recoveryMs)
    load.forget()
    expect(heap() - before).toBeLessThan(STABLE_BYTES)
    return { ...figures, ...failed, audits, recovery }
  } finally {
    await load.stop()
    await Promise.all([...narrows, ...more].map((one) => one.stop()))
    await limiter.close()
  }
}

/** What callers got instead of a decision, for calls that began at the instant `from` or later. */
function failures(load: Load, from: number): { kinds: Set<string>; allowed: Set<boolean>; degraded: number } {
  const after = load.samples.filter(({ started, decision }) => started >= from && decision.degraded !== undefined)
  const kinds = new Set(after.map(({ decision }) => decision.degraded?.kind as string))
  return { kinds, allowed: new Set(after.map(({ decision }) => decision.allowed)), degraded: after.length }
}

/** Starts a few callers that call the store itself with one narrow limit. A call that was not answered does not count as admitted. */
function startNarrow(store: Store, key: string, limit: AnyLimit, deadlineMs: number): Narrow {
  const trace: TraceEntry[] = []
  const state = { running: true, lost: 0, denied: 0 }
  const calls = [{ id: { scope: { text: 'narrow:' }, key }, limit, cost: 1_000_000, phase: 0 }]
  const caller = async (): Promise<void> => {
    while (state.running) {
      try {
        const [verdict] = await verbs.decide(store, [{ calls }], { deadline: performance.now() + deadlineMs })
        const { at, outcome } = verdict as Decided
        trace.push({ at, cost: 1, allowed: outcome === 'allowed' })
        if (outcome === 'denied') state.denied += 1
      } catch (error) {
        if (!(error instanceof StoreFailure)) throw error
        state.lost += 1
      }
      await wait(2)
    }
  }
  const done = Promise.all(Array.from({ length: NARROW_CALLERS }, caller))
  return {
    usedUp: async () => {
      const before = state.denied
      await until(`the limit of ${key} is used up`, async () => state.denied > before)
    },
    stop: async () => {
      state.running = false
      await done
      return { ...audit(trace, limit), lost: state.lost }
    },
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap that are in use, after a garbage collection. */
export function heap(): number {
  collect()
  return process.memoryUsage().heapUsed
}

export async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}
