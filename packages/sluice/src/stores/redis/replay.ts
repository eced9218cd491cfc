import type { AnyLimit, Step } from '../../algorithms/algorithm.ts'
import type { BucketPlan } from '../../algorithms/bucket-plan.ts'
import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import { leasedBucketKernel, leasing } from '../../algorithms/leased-bucket.ts'
import type { BucketState } from '../../algorithms/token-bucket.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, CallGroup, GroupVerdict } from '../store.ts'
import { TOLD, toldLimit } from '../told-limit.ts'
import { verdictOf } from '../verdict-of.ts'
import { NEWER } from './failures.ts'
import { FULL } from './packed/new-keys.ts'
import type { AskedState, Question } from './question.ts'
import { Nonsense, type Reply, replyOf } from './replies.ts'
import { NEWER_ENDS, readValue } from './value.ts'

/** A state at this point of the replay. */
interface Held {
  state: unknown
  ends: Micros
  /** Whether some of its tokens are leased. */
  leased: boolean
  /** Whether the store had no value for it. */
  missing: boolean
  readonly step: Step<unknown>
}

/** A reply during its replay. */
interface Reading {
  readonly reply: Reply
  readonly now: Micros
  /** Dry run: nothing was charged, and views show that. */
  readonly look: boolean
  /** By the index of the state. */
  readonly held: Held[]
}

/** Numbers of a bucket without leases. */
const BUCKET = 7

/** The verdict of a group that would create a state that may not be created. */
const REFUSED: GroupVerdict = { failure: FULL }

/**
 * Computes the verdicts of a program's reply: kernels decide again, on the states that it found and at its time. Undefined if the reply
 * is invalid, or other groups passed there than here: a corrupt reply must never look like a denial.
 */
export function replay(
  groups: readonly CallGroup[],
  { states, parts, order }: Question,
  reply: unknown,
  look = false,
): GroupVerdict[] | undefined {
  try {
    const read = replyOf(reply, states.length)
    const reading: Reading = { reply: read, now: read.now, look, held: [] }
    const verdicts = groups.map(({ calls }, index): GroupVerdict => {
      const part = parts[index]
      if (part === undefined) return { outcome: 'allowed', at: reading.now, calls: [] }
      const verdict = 'states' in part ? decideGroup(reading, calls, part.states) : decideOne(reading, calls[0] as Call, part.state)
      if (verdict.outcome === 'allowed') part.passed += 1
      return verdict
    })
    return read.isPassed(order) ? verdicts : undefined
  } catch (error) {
    if (error instanceof Nonsense) return undefined
    throw error
  }
}

function decideOne(reading: Reading, call: Call, asked: AskedState): GroupVerdict {
  const { limit, cost, phase } = call
  const { now } = reading
  const held = heldOf(reading, asked, limit)
  if (held.ends > now) return decideGroup(reading, [call], [asked])
  const { plan } = limit
  const algorithm = held.leased ? leasedBucketKernel : limit.algorithm
  const state = held.state === undefined ? undefined : algorithm.adopt(plan, held.state, now, phase)
  // Before the decision, because the new state overwrites the old one in place.
  const seen = reading.look ? algorithm.view(plan, state, now, phase) : undefined
  const step = algorithm.decide(plan, state, now, cost, phase, held.step)
  const { outcome, retryAfter } = step
  const { remaining, replenishAfter, resetAfter } = seen ?? step
  if (outcome === 'allowed' && held.missing) {
    if (asked.closed) return REFUSED
    asked.made = true
  }
  if (step.state !== undefined) held.state = step.state
  const calls = [{ outcome, retryAfter, remaining, replenishAfter, resetAfter }]
  return outcome === 'denied' ? { outcome, at: now, retryAfter, calls } : { outcome, at: now, calls }
}

function decideGroup(reading: Reading, calls: readonly Call[], asked: readonly AskedState[]): GroupVerdict {
  const slots = [...new Set(asked)]
  const held = slots.map((state) => heldOf(reading, state, (calls[asked.indexOf(state)] as Call).limit))
  const driven = calls.map(({ limit, cost, phase }, index): GroupCall => {
    const state = asked[index] as AskedState
    const slot = slots.indexOf(state)
    if (state.told) return { slot, limit: toldNext(reading, limit), cost, phase }
    return { slot, limit: held[slot]?.leased === true ? leasing(limit) : limit, cost, phase }
  })
  const result = applyGroup(
    held.map(({ state }) => state),
    driven,
    reading.now,
    held.map(({ ends }) => ends),
    reading.look,
  )
  if (result.outcome !== 'allowed' && held.some(({ ends }) => ends === NEWER_ENDS)) return { failure: NEWER }
  if (result.outcome === 'allowed') {
    const made = slots.filter((_, slot) => held[slot]?.missing)
    if (made.some(({ closed }) => closed)) return REFUSED
    for (const state of made) state.made = true
  }
  for (const { slot, state } of result.writes) (held[slot] as Held).state = state
  return verdictOf(result, reading.now)
}

/** The next verdict in the reply. */
function toldNext(reading: Reading, limit: AnyLimit): AnyLimit {
  const told = toldLimit(
    limit,
    Array.from({ length: TOLD }, () => reading.reply.next()),
    reading.now,
  )
  if (told === undefined) throw new Nonsense()
  return told
}

/** A state, initially as the program found it. For a log the reply contains only the end of its block. */
function heldOf({ held, reply }: Reading, { place, told }: AskedState, limit: AnyLimit): Held {
  const { algorithm } = limit
  const known = held[place]
  if (known !== undefined) return known
  const made: Held = { state: undefined, ends: 0, leased: false, missing: false, step: algorithm.step() }
  held[place] = made
  if (told) {
    const ends = reply.ends(place)
    made.missing = ends === null
    made.ends = ends ?? 0
    return made
  }
  const found = reply.found(place)
  made.missing = found === null
  if (found === null) return made
  const { tag, numbers, ends } = readValue(found)
  // A value of another algorithm is ignored here, including its block.
  if (numbers === undefined || tag === algorithm.tag) made.ends = ends
  if (numbers === undefined || tag !== algorithm.tag) return made
  made.leased = tag === 'tb' && numbers.length > BUCKET
  made.state = made.leased
    ? leasedBucketKernel.codec.decodeState(numbers)
    : (samePlan(limit, numbers) ?? algorithm.codec.decodeState(numbers))
  return made
}

/** The state of a bucket with the plan of its limit, as nearly all have: the plan need not be computed again. */
function samePlan({ algorithm, plan }: AnyLimit, numbers: readonly number[]): BucketState | undefined {
  if (algorithm.tag !== 'tb') return undefined
  const [zero = 0, rest = 0, seen = 0, hold = 0, n, m, burst] = numbers
  const known = plan as BucketPlan
  return known.n === n && known.m === m && known.burst === burst ? { zero, rest, seen, hold, plan: known } : undefined
}
