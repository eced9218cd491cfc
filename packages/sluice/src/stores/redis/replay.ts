import type { AnyLimit, CallOutcome, Step } from '../../algorithms/algorithm.ts'
import { applyGroup } from '../../algorithms/group.ts'
import { slidingWindowLogKernel } from '../../algorithms/sliding-window-log.ts'
import type { Micros } from '../../time/micros.ts'
import type { Call, CallGroup, GroupVerdict } from '../store.ts'
import type { AskedState, Question } from './question.ts'
import { readValue } from './value.ts'

/** A state as it is at this point of the replay. */
interface Replayed {
  state: unknown
  readonly ends: Micros
  readonly step: Step<unknown>
}

/** A verdict that the program told, as a step of its kernel. */
type Told = Omit<Step<undefined>, 'next'>

const OUTCOMES: readonly CallOutcome[] = ['allowed', 'denied', 'impossible']

/** In the place of a kernel whose verdicts are told: its plan is the verdict. */
const TOLD = { ...slidingWindowLogKernel, adopt: () => undefined, decide: (told: Told) => told, view: (told: Told) => told }

/**
 * The verdicts of a program's answer: kernels decide once more, on the states as they were and at its time. Undefined where the
 * answer makes no sense or what passed there is not what passes here: nonsense must never look like a denial.
 */
export function replay(groups: readonly CallGroup[], question: Question, reply: unknown): GroupVerdict[] | undefined {
  if (!Array.isArray(reply)) return undefined
  const { states, parts, order } = question
  const numbers = reply.slice(states.length).map(whole)
  const [now = Number.NaN] = numbers
  if (numbers.includes(Number.NaN) || Number.isNaN(now)) return undefined
  const replayed = new Map<AskedState, Replayed>()
  let read = 1

  const open = (state: AskedState, limit: AnyLimit): Replayed | undefined => {
    const known = replayed.get(state)
    if (known !== undefined) return known
    const made = opened(reply[state.place - 1], state, limit)
    if (made !== undefined) replayed.set(state, made)
    return made
  }
  const tell = ({ limit }: Call): AnyLimit | undefined => {
    const [outcome = 3, retryAfter = 0, remaining = 0, replenishAfter = 0, resetAfter = 0] = numbers.slice(read, (read += 5))
    const name = OUTCOMES[outcome]
    if (name === undefined) return undefined
    const plan: Told = { outcome: name, retryAfter, remaining, replenishAfter, resetAfter, state: undefined }
    return { ...limit, algorithm: TOLD as never, plan }
  }
  const decideGroup = (calls: readonly Call[], asked: readonly AskedState[]): GroupVerdict | undefined => {
    const distinct = [...new Set(asked)]
    const opens: Replayed[] = []
    for (const state of distinct) {
      const made = open(state, (calls[asked.indexOf(state)] as Call).limit)
      if (made === undefined) return undefined
      opens.push(made)
    }
    const driven: { slot: number; limit: AnyLimit; cost: number; phase: number }[] = []
    for (const [index, call] of calls.entries()) {
      const state = asked[index] as AskedState
      const limit = state.told ? tell(call) : call.limit
      if (limit === undefined) return undefined
      driven.push({ slot: distinct.indexOf(state), limit, cost: call.cost, phase: call.phase })
    }
    const result = applyGroup(
      opens.map(({ state }) => state),
      driven,
      now,
      opens.map(({ ends }) => ends),
    )
    for (const { slot, state } of result.writes) (opens[slot] as Replayed).state = state
    return { outcome: result.outcome, allowed: result.outcome === 'allowed', at: now, calls: result.calls, source: 'store' }
  }
  const decideOne = (call: Call, asked: AskedState): GroupVerdict | undefined => {
    const { limit, cost, phase } = call
    const held = open(asked, limit)
    if (held === undefined) return undefined
    if (held.ends > now) return decideGroup([call], [asked])
    const { algorithm, plan } = limit
    const { step } = held
    const stored = held.state
    const state = stored === undefined ? undefined : algorithm.adopt(plan, stored, now, phase)
    const {
      outcome,
      retryAfter,
      remaining,
      replenishAfter,
      resetAfter,
      state: after,
    } = algorithm.decide(plan, state, now, cost, phase, step)
    if (after !== undefined) held.state = after
    const verdict = { outcome, retryAfter, remaining, replenishAfter, resetAfter }
    return { outcome, allowed: outcome === 'allowed', at: now, calls: [verdict], source: 'store' }
  }

  const verdicts: GroupVerdict[] = []
  for (const [index, { calls }] of groups.entries()) {
    const part = parts[index]
    if (part === undefined) {
      verdicts.push({ outcome: 'allowed', allowed: true, at: now, calls: [], source: 'store' })
      continue
    }
    const verdict = 'states' in part ? decideGroup(calls, part.states) : decideOne(calls[0] as Call, part.state)
    if (verdict === undefined) return undefined
    if (verdict.allowed) part.passed += 1
    verdicts.push(verdict)
  }
  const expected = digitsOf(order.map((part) => [part.passed, 'states' in part ? 2 : part.times + 1]))
  return expected.length === numbers.length - read && expected.every((digits, index) => digits === numbers[read + index])
    ? verdicts
    : undefined
}

/** A state as the program found it; undefined where that is no value at all. Of a state that is told it says until when it is blocked. */
function opened(found: unknown, { told }: AskedState, { algorithm }: AnyLimit): Replayed | undefined {
  const step = algorithm.step()
  if (told) {
    const ends = found === null ? 0 : whole(found)
    return Number.isNaN(ends) ? undefined : { state: undefined, ends, step }
  }
  if (found !== null && !(found instanceof Uint8Array)) return undefined
  const { tag, numbers, ends } = readValue(found)
  if (numbers === undefined) return { state: undefined, ends, step }
  // A state of another algorithm is no value here, block and all.
  if (tag !== algorithm.tag) return { state: undefined, ends: 0, step }
  return { state: algorithm.codec.decodeState(numbers), ends, step }
}

/** What passed of each part, and one more than could: as the program writes it. */
function digitsOf(parts: readonly (readonly [passed: number, base: number])[]): number[] {
  const done: number[] = []
  let [digits, room] = [0, 1]
  for (const [passed, base] of parts) {
    if (room * base > 2 ** 52) {
      done.push(digits)
      ;[digits, room] = [0, 1]
    }
    digits = digits * base + passed
    room *= base
  }
  return [...done, digits]
}

/** Clients pass whole numbers as numbers or, told to, as text. */
function whole(value: unknown): number {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : Number.NaN
}
