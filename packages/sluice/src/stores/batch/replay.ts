import type { AnyLimit, Step } from '../../algorithms/algorithm.ts'
import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import type { Micros } from '../../time/micros.ts'
import { type Call, type CallGroup, type Failed, type GroupVerdict, StoreFailure, verdictOf } from '../store.ts'
import type { Batch, BatchEntry, BatchState } from './batch.ts'
import { REPORTED, reportedLimit } from './reported.ts'

/** A state as the program found it, and then at each point of the replay. */
export interface FoundState {
  /** Undefined if there is none; also for a log, of which the program reports the verdicts. */
  state: unknown
  /** End of its block; 0 for none. */
  readonly until: Micros
  /** The kernel that decides on it, if that is not its limit's. */
  readonly kernel?: AnyLimit['algorithm'] | undefined
  /** Set if no group with this state is decided: why. */
  readonly failure?: StoreFailure | undefined
  /** Set if a group that passes would create the state and may not: its verdict. */
  readonly refusal?: Failed | undefined
  /** Whether a group with this state passed. */
  passed?: boolean
  /** Reused by the kernel. */
  step?: Step<unknown> | undefined
}

/** A program's reply. */
export interface Found {
  readonly now: Micros
  /** By the index of the state. */
  readonly states: readonly FoundState[]
  /** The next number of the verdicts that the program reports. */
  next(): number
}

/** A program's reply makes no sense. */
export class InvalidReply extends Error {}

/**
 * Reads a reply.
 * @param read throws InvalidReply if the reply makes no sense
 * @throws StoreFailure protocol then: a corrupt reply must never look like a denial
 */
export function validated<T>(program: string, reply: unknown, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidReply)) throw error
    throw new StoreFailure('protocol', 'unknown', `${program} answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }
}

/**
 * Computes the verdicts of a program's reply: kernels decide again, on the states that it found and at its time. It counts what passes in
 * each entry; the caller compares that with the program's own count.
 * @param charge false for a dry run: nothing was charged, and views show that
 * @throws InvalidReply
 */
export function replay(groups: readonly CallGroup[], { byGroup }: Batch, found: Found, charge: boolean): GroupVerdict[] {
  return groups.map(({ calls }, index) => {
    const entry = byGroup[index]
    if (entry === undefined) return { outcome: 'allowed', at: found.now, calls: [] }
    const verdict = decideOne(found, calls, entry, charge) ?? decideGroup(found, calls, entry.states, charge)
    if (verdict.outcome === 'allowed') entry.passed += 1
    return verdict
  })
}

/** As `applyGroup` for a single call, which is most of them, with fewer allocations; undefined for other groups, blocks and logs. */
function decideOne(found: Found, calls: readonly Call[], { states }: BatchEntry, charge: boolean): GroupVerdict | undefined {
  // By index: taking arrays apart costs more than the decision.
  const { index, isLog } = states[0] as BatchState
  const state = found.states[index] as FoundState
  const { now } = found
  if (calls.length > 1 || isLog || state.until > now || state.failure !== undefined) return undefined
  const { limit, cost, phase } = calls[0] as Call
  const { plan } = limit
  const algorithm = state.kernel ?? limit.algorithm
  const adopted = state.state === undefined ? undefined : algorithm.adopt(plan, state.state, now, phase)
  // Before the decision, because the new state overwrites the old one in place.
  const view = charge ? undefined : algorithm.view(plan, adopted, now, phase)
  const step = algorithm.decide(plan, adopted, now, cost, phase, (state.step ??= algorithm.step()))
  const { outcome, retryAfter } = step
  const { remaining, replenishAfter, resetAfter } = view ?? step
  if (outcome === 'allowed') {
    if (state.refusal !== undefined) return state.refusal
    state.passed = true
  }
  if (step.state !== undefined) state.state = step.state
  const verdict = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
  return { outcome, at: now, retryAfter: outcome === 'denied' ? retryAfter : undefined, calls: [verdict] }
}

function decideGroup(found: Found, calls: readonly Call[], states: readonly BatchState[], charge: boolean): GroupVerdict {
  const { now } = found
  const own = [...new Set(states)]
  const slots = new Map(own.map((state, slot) => [state, slot]))
  const before = own.map(({ index }) => found.states[index] as FoundState)
  const driven = calls.map(({ limit, cost, phase }, index): GroupCall => {
    const state = states[index] as BatchState
    const slot = slots.get(state) as number
    const kernel = before[slot]?.kernel
    const driver = kernel === undefined ? limit : { ...limit, algorithm: kernel }
    return { slot, limit: state.isLog ? reported(limit, found) : driver, cost, phase }
  })
  const failure = before.find((state) => state.failure !== undefined)?.failure
  if (failure !== undefined) return { failure }
  const blocks = before.map(({ until }) => until)
  const result = applyGroup(
    before.map(({ state }) => state),
    driven,
    now,
    blocks,
    !charge,
  )
  if (result.outcome === 'allowed') {
    const refusal = before.find((state) => state.refusal !== undefined)?.refusal
    if (refusal !== undefined) return refusal
    for (const state of before) state.passed = true
  }
  for (const { slot, state } of result.writes) (before[slot] as FoundState).state = state
  return verdictOf(result, now)
}

/** The limit of a log, with the next verdict that the program reports. */
function reported(limit: AnyLimit, found: Found): AnyLimit {
  const numbers = Array.from({ length: REPORTED }, () => found.next())
  const made = reportedLimit(limit, numbers, found.now)
  if (made === undefined) throw new InvalidReply()
  return made
}
