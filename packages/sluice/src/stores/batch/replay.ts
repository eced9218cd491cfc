import type { AnyLimit, Step } from '../../algorithms/algorithm.ts'
import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import { isRecord } from '../../algorithms/hold-record.ts'
import type { Micros } from '../../time/micros.ts'
import { type Call, type CallGroup, type Failed, type GroupVerdict, StoreFailure, verdictOf } from '../store.ts'
import type { Batch, BatchEntry, BatchState } from './batch.ts'
import { REPORTED, reportedLimit } from './reported.ts'

/** A state as the program on the server found it. The replay changes `state` after each group. */
export interface FoundState {
  /** Undefined without a state, and for a log, of which the program reports verdicts. */
  state: unknown
  /** The end of the state's block; 0 for none. */
  readonly until: Micros
  /** Decides on this state instead of the limit's own algorithm. */
  readonly kernel?: AnyLimit['algorithm'] | undefined
  /** Why groups with this state cannot be decided. */
  readonly failure?: StoreFailure | undefined
  /** If the store is full: the verdict of a group that would create this state. */
  readonly refusal?: Failed | undefined
  /** Whether any group with this state has passed in the replay. */
  passed?: boolean
  /** Used again for each decision, which saves allocations. */
  step?: Step<unknown> | undefined
}

export interface Found {
  readonly now: Micros
  /** By their index in the batch. */
  readonly states: readonly FoundState[]
  /** Reads the next number of the reported verdicts. */
  next(): number
}

/** A program's reply does not have the expected form. */
export class InvalidReply extends Error {}

/** @throws StoreFailure of kind `protocol` in place of InvalidReply, so that the failure policy decides */
export function validated<T>(program: string, reply: unknown, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof InvalidReply)) throw error
    throw new StoreFailure('protocol', 'unknown', `${program} answered ${JSON.stringify(reply)?.slice(0, 200)}`)
  }
}

/**
 * Decides again with the algorithms in TypeScript, on the states and at the time in a program's reply. Counts in `entry.passed` how many
 * groups pass; the caller compares that with the program's counts.
 * @param charge false for a peek: the numbers are then those without the charge
 * @throws InvalidReply
 */
export function replay(groups: readonly CallGroup[], { byGroup }: Batch, found: Found, charge: boolean): GroupVerdict[] {
  return groups.map(({ calls, options }, index) => {
    const entry = byGroup[index]
    if (entry === undefined) return { outcome: 'allowed', at: found.now, calls: [] }
    const simple = options === undefined ? decideOne(found, calls, entry, charge) : charge ? recordOne(found, calls, entry) : undefined
    const verdict = simple ?? decideGroup(found, calls, entry.states, charge)
    if (verdict.outcome === 'allowed') entry.passed += 1
    return verdict
  })
}

/**
 * Decides a group of one call as `applyGroup` does, with fewer allocations, because most groups have one call. Undefined if `decideGroup`
 * must decide.
 */
function decideOne(found: Found, calls: readonly Call[], { states }: BatchEntry, charge: boolean): GroupVerdict | undefined {
  // Indexed access: destructuring an array costs more than the decision.
  const { index, isLog } = states[0] as BatchState
  const state = found.states[index] as FoundState
  const { now } = found
  const { limit, cost, phase } = calls[0] as Call
  if (calls.length > 1 || isLog || state.until > now || state.failure !== undefined || isRecord(limit)) return undefined
  const { plan } = limit
  const algorithm = state.kernel ?? limit.algorithm
  const adopted = state.state === undefined ? undefined : algorithm.adopt(plan, state.state, now, phase)
  // The decision overwrites the old state, so the numbers before the charge are computed first.
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

/** Decides one call and the record of its hold as `applyGroup` does, if both are charged. Undefined if `decideGroup` must decide. */
function recordOne(found: Found, calls: readonly Call[], { states }: BatchEntry): GroupVerdict | undefined {
  const [call, record] = calls as readonly [Call, Call]
  if (calls.length !== 2 || !isRecord(record.limit) || isRecord(call.limit) || call.limit.ahead === true) return undefined
  const { index, isLog } = states[0] as BatchState
  const [state, held] = [found.states[index], found.states[(states[1] as BatchState).index]] as [FoundState, FoundState]
  const { now } = found
  if (isLog || held.state !== undefined || !isOpen(state, now) || !isOpen(held, now)) return undefined
  const { limit, cost, phase } = call
  const { plan } = limit
  const algorithm = state.kernel ?? limit.algorithm
  if (algorithm.holding !== undefined) return undefined
  const adopted = state.state === undefined ? undefined : algorithm.adopt(plan, state.state, now, phase)
  const { outcome, retryAfter, remaining, replenishAfter, resetAfter, state: after } = algorithm.decide(plan, adopted, now, cost, phase)
  if (outcome !== 'allowed') return undefined
  const kernel = record.limit.algorithm
  const recorded = kernel.decide(record.limit.plan, undefined, now, record.cost, record.phase)
  if (recorded.outcome !== 'allowed') return undefined
  state.state = after
  held.state = kernel.note?.(record.limit.plan, recorded.state, [
    { limit: state.kernel === undefined ? limit : { ...limit, algorithm }, state: after },
  ])
  state.passed = true
  held.passed = true
  const verdicts = [
    { outcome, retryAfter, remaining, replenishAfter, resetAfter },
    {
      outcome: recorded.outcome,
      retryAfter: 0,
      remaining: recorded.remaining,
      replenishAfter: recorded.replenishAfter,
      resetAfter: recorded.resetAfter,
    },
  ]
  return { outcome, at: now, retryAfter: undefined, calls: verdicts }
}

function isOpen({ until, failure, refusal }: FoundState, now: Micros): boolean {
  return until <= now && failure === undefined && refusal === undefined
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

/** A limit whose algorithm returns the next verdict in the program's reply. */
function reported(limit: AnyLimit, found: Found): AnyLimit {
  const numbers = Array.from({ length: REPORTED }, () => found.next())
  const made = reportedLimit(limit, numbers, found.now)
  if (made === undefined) throw new InvalidReply()
  return made
}
