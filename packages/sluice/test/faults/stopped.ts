import { expect } from 'vitest'
import { createLimiter, type FailurePolicy, type Store, tokenBucket } from '../../src/index.ts'
import { expectInTime } from './in-time.ts'
import { type Punctuality, punctuality, type Sample, startLoad } from './load.ts'
import { continueTree, stopTree } from './process-tree.ts'

export const DEADLINE_MS = 50
export const CALLERS = 64
/**
 * The kinds of failure when a deadline has passed. On PostgreSQL it is `contention` if the call still waited for the row of its key, before
 * anything was sent.
 */
export const LATE = ['timeout', 'contention'] as const
/**
 * In milliseconds, how much later than its deadline an answer may come, after the time is subtracted for which the event loop was blocked.
 */
const GRACE_MS = 5
/** A limit so large that no caller uses it up. So every denial would be an error. */
export const plenty = tokenBucket({ rate: '1000000/s', burst: 1_000_000 })

export interface Stop {
  readonly policy: FailurePolicy
  readonly pid: number
  readonly stoppedMs: number
  readonly pauseMs?: number
}

/**
 * Stops a server under load for `stoppedMs`, as a debugger would, and lets it go on. While it is stopped, it accepts bytes and answers
 * nothing. Expects that all calls are answered by their deadlines.
 */
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

/**
 * Expects that no answer was too late. If the machine keeps this process from running for long, the time of that is measured less exactly.
 * So a quarter of the longest such time is allowed.
 */
export function expectPunctual({ excess, lag }: Punctuality): void {
  expectInTime('an answer after its deadline', excess, Math.max(GRACE_MS, lag / 4))
}

function expectFallback({ decision }: Sample, policy: FailurePolicy): void {
  const { outcome, allowed, source, degraded } = decision
  const fallback = policy === 'local' ? ['allowed', true] : ['undecided', policy === 'allow']
  expect([outcome, allowed, source]).toEqual([...fallback, 'fallback'])
  // With too many calls under way, or while a silent connection is replaced, the store refuses a call without sending it. These are
  // `overload` and `connection`.
  expect(['timeout', 'overload', 'connection']).toContain(degraded?.kind)
}

/** Writes what was measured into the test's output, because that a bound was held does not show by how much. */
export function report(what: string, figures: object): void {
  const text = Object.entries(figures).map(([name, value]) => `${name} ${typeof value === 'number' ? value.toFixed(1) : String(value)}`)
  console.log(`${expect.getState().currentTestName}, ${what}: ${text.join(', ')}`)
}
