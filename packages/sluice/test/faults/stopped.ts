import { expect } from 'vitest'
import { createLimiter, type FailurePolicy, type Store, tokenBucket } from '../../src/index.ts'
import { expectInTime } from './in-time.ts'
import { type Punctuality, punctuality, type Sample, startLoad } from './load.ts'
import { continueTree, stopTree } from './process-tree.ts'

export const DEADLINE_MS = 50
export const CALLERS = 64
/** What callers get who are too late: on PostgreSQL also while they wait for the row of their key, before anything is sent. */
export const LATE = ['timeout', 'contention'] as const
/** Answers may be this much later than the deadline, once the time for which this process's loop was held is taken off. */
const GRACE_MS = 5
/** So large that no caller uses it up: every denial would be a false one. */
export const plenty = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })

export interface Stop {
  readonly policy: FailurePolicy
  readonly pid: number
  readonly stoppedMs: number
  readonly pauseMs?: number
}

/** A server under load is stopped as by a debugger, and let go again: it accepts bytes and answers nothing. */
export async function stopUnderLoad(store: Store, { policy, pid, stoppedMs, pauseMs }: Stop): Promise<void> {
  const limiter = createLimiter({ limit: plenty, store, onStoreFailure: policy, deadlineMs: DEADLINE_MS })
  const load = startLoad(limiter, { callers: CALLERS, deadlineMs: DEADLINE_MS, ...(pauseMs === undefined ? {} : { pauseMs }) })
  try {
    await load.recovery()
    await stopTree(pid)
    const stopped = performance.now()
    await new Promise((resolve) => setTimeout(resolve, stoppedMs))
    const resumed = performance.now()
    continueTree(pid)
    const recovery = await load.recovery()
    await load.stop()

    const during = load.samples.filter(({ started, ended }) => started >= stopped && ended <= resumed)
    const figures = punctuality(load, stopped, resumed, DEADLINE_MS)
    report(policy, { ...figures, recovery, lagAfter: load.held(resumed, resumed + recovery).longest })
    expect(during.length).toBeGreaterThanOrEqual(CALLERS)
    for (const sample of during) expectFallback(sample, policy)
    expect(load.samples.filter(({ decision }) => decision.outcome === 'denied')).toEqual([])
    expectPunctual(figures)
    expectInTime('the recovery', recovery - load.held(resumed, resumed + recovery).all, 1_000)
  } finally {
    continueTree(pid)
    await load.stop()
    await limiter.close()
  }
}

/** On a machine that holds this process for long, the meter of it is as coarse: a quarter of the longest time is granted. */
export function expectPunctual({ excess, lag }: Punctuality): void {
  expectInTime('an answer after its deadline', excess, Math.max(GRACE_MS, lag / 4))
}

function expectFallback({ decision }: Sample, policy: FailurePolicy): void {
  const { outcome, allowed, source, degraded } = decision
  const fallback = policy === 'local' ? ['allowed', true] : ['undecided', policy === 'allow']
  expect([outcome, allowed, source]).toEqual([...fallback, 'fallback'])
  // Past the bound of calls under way, or while a silent connection is replaced, the store does not even try.
  expect(['timeout', 'overload', 'connection']).toContain(degraded?.kind)
}

/** What was measured, in the test's output: a bound that holds says little without the figure. */
export function report(what: string, figures: object): void {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${typeof value === 'number' ? value.toFixed(1) : String(value)}`)
  console.log(`${expect.getState().currentTestName}, ${what}: ${text.join(', ')}`)
}
