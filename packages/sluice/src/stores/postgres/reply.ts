import type { AnyLimit } from '../../algorithms/algorithm.ts'
import type { Batch, BatchState } from '../batch/batch.ts'
import { type Found, type FoundState, InvalidReply } from '../batch/replay.ts'
import { OUTCOMES, REPORTED } from '../batch/reported.ts'
import type { CallGroup, GroupVerdict } from '../store.ts'
import type { Request } from './encode.ts'

const PER_STATE = 6

export interface Reply extends Found {
  /** Whether the function's outcomes are those of the verdicts. */
  isSame(verdicts: readonly GroupVerdict[]): boolean
}

/** Reads the reply of a function, which consume.sql documents. @throws InvalidReply */
export function replyOf(reply: unknown, groups: readonly CallGroup[], { byGroup }: Batch, { program, states }: Request): Reply {
  const numbers = typeof reply === 'string' ? numbersOf(reply) : []
  if (numbers.length === 0 || !numbers.every(Number.isSafeInteger)) throw new InvalidReply()
  const first = 1 + groups.length
  let reported = first + PER_STATE * states.length
  const plans = reported + REPORTED * logCalls(groups)
  if (numbers.length < plans || (numbers.length - plans) % 3 !== 0) throw new InvalidReply()
  const otherPlans = numbers.slice(plans)
  return {
    now: numbers[0] as number,
    states: states.map((state, index) => {
      const from = first + PER_STATE * index
      return foundState(state, numbers.slice(from, from + PER_STATE), otherPlans)
    }),
    next: () => numbers[reported++] as number,
    isSame: (verdicts) =>
      verdicts.every(({ outcome }, group) => {
        // This function returns outcomes in the order of the states, of which each group has one.
        const index = program === 'buckets' ? byGroup[group]?.states[0]?.index : group
        return outcome === OUTCOMES[numbers[1 + (index as number)] as number]
      }),
  }
}

export function numbersOf(array: string): number[] {
  const inner = array.slice(1, -1)
  return inner === '' ? [] : inner.split(',').map((text) => (/^-?\d+$/.test(text) ? Number(text) : Number.NaN))
}

function logCalls(groups: readonly CallGroup[]): number {
  return groups.reduce((sum, { calls }) => sum + calls.filter(({ limit }) => limit.algorithm.cells === 'log').length, 0)
}

/**
 * A state from its numbers: end of its block, plan id, own numbers, keepFor (of a window its turn). The plan id is 0 without a state, else
 * a window, the index of a plan of the request or, below 0, of the other plans in the reply. For a log only the end of the block is used.
 */
function foundState(
  { first }: BatchState,
  [until = 0, planId = 0, a = 0, b = 0, c = 0, last = 0]: readonly number[],
  otherPlans: readonly number[],
): FoundState {
  const { algorithm, plan }: AnyLimit = first.limit
  if (planId === 0 || algorithm.cells === 'log') return { until, state: undefined }
  if (algorithm.tag !== 'tb') {
    return { until, state: algorithm.codec.decodeState([...[a, b, c].slice(0, algorithm.cells.width), planId, last]) }
  }
  const numbers = planId > 0 ? algorithm.codec.encodePlan(plan) : otherPlans.slice(-3 * (planId + 1), -3 * planId)
  return { until, state: algorithm.codec.decodeState([a, b, c, last, ...numbers], plan) }
}
