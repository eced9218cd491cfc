import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Batch, BatchState } from '../batch/batch.ts'
import { type Found, type FoundState, InvalidReply } from '../batch/replay.ts'
import { OUTCOMES, REPORTED } from '../batch/reported.ts'
import type { CallGroup, GroupVerdict } from '../store.ts'
import { isLog, isOther, type Request } from './encode.ts'

const PER_STATE = 6

export interface Reply extends Found {
  /** Whether these verdicts have the outcomes that the SQL function reported. */
  isSame(verdicts: readonly GroupVerdict[]): boolean
}

/** Reads the reply of a function, which consume.sql documents. @throws InvalidReply */
export function replyOf(reply: unknown, groups: readonly CallGroup[], batch: Batch, request: Request): Reply {
  const { program, states } = request
  const numbers = typeof reply === 'string' ? numbersOf(reply) : []
  if (numbers.length === 0 || !numbers.every(Number.isSafeInteger)) throw new InvalidReply()
  const first = 1 + groups.length
  const others = first + PER_STATE * states.length
  const sizes = states.map((state, index) => (isOther(state.first.limit) ? (numbers[first + PER_STATE * index + 1] as number) : 0))
  let from = others
  const listed = sizes.map((size) => numbers.slice(from, (from += size)))
  let reported = from
  const plans = reported + REPORTED * logCalls(groups)
  if (numbers.length < plans || (numbers.length - plans) % 3 !== 0) throw new InvalidReply()
  const otherPlans = numbers.slice(plans)
  return {
    now: numbers[0] as number,
    states: states.map((state, index) => {
      const at = first + PER_STATE * index
      return foundState(state, numbers.slice(at, at + PER_STATE), otherPlans, listed[index] as number[])
    }),
    next: () => numbers[reported++] as number,
    isSame: (verdicts) =>
      verdicts.every(({ outcome }, group) => {
        // `buckets` returns outcomes in the order of the states; each group has one.
        const index = program === 'buckets' ? batch.byGroup[group]?.states[0]?.index : group
        return outcome === OUTCOMES[numbers[1 + (index as number)] as number]
      }),
  }
}

export function numbersOf(array: string): number[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
}

function logCalls(groups: readonly CallGroup[]): number {
  return groups.reduce((sum, { calls }) => sum + calls.filter(({ limit }) => isLog(limit)).length, 0)
}

/** Reads a state from its six numbers in the reply, which consume.sql describes. */
function foundState(
  { first }: BatchState,
  [until = 0, planId = 0, a = 0, b = 0, c = 0, last = 0]: readonly number[],
  otherPlans: readonly number[],
  listed: readonly number[],
): FoundState {
  const { algorithm, plan }: AnyLimit = first.limit
  if (planId !== 0 && isOther(first.limit)) return { until, state: algorithm.codec.decodeState(listed) }
  if (planId === 0 || algorithm.cells === 'log') return { until, state: undefined }
  if (algorithm.tag !== 'tb') {
    return { until, state: algorithm.codec.decodeState([...[a, b, c].slice(0, algorithm.cells.width), planId, last]) }
  }
  const numbers = planId > 0 ? algorithm.codec.encodePlan(plan) : otherPlans.slice(-3 * (planId + 1), -3 * planId)
  return { until, state: algorithm.codec.decodeState([a, b, c, last, ...numbers], plan) }
}
