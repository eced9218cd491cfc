import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { applyGroup, type GroupCall } from '../../algorithms/group.ts'
import type { CallGroup, GroupVerdict } from '../store.ts'
import { OUTCOMES, TOLD, toldLimit } from '../told-limit.ts'
import { verdictOf } from '../verdict-of.ts'
import type { Question } from './encode.ts'

const PER_STATE = 6

/**
 * Computes the verdicts from the function's reply. The reply says which groups pass; the reference driver computes the rest from the same
 * states at the same time. For a log it uses the numbers of the reply, because its entries stay in the database. Undefined if the driver
 * disagrees or the numbers do not fit the request: a corrupt reply must never look like a denial.
 * @param look a dry run: nothing was charged, and views show that
 */
export function replay(
  groups: readonly CallGroup[],
  question: Question,
  reply: readonly number[],
  look: boolean,
): GroupVerdict[] | undefined {
  if (reply.some((number) => !Number.isSafeInteger(number))) return undefined
  const [now = Number.NaN] = reply
  const slots = question.ids.length
  const firstState = 1 + groups.length
  const told = firstState + PER_STATE * slots
  const logCalls = groups.reduce((sum, { calls }) => sum + calls.filter(({ limit }) => isLog(limit)).length, 0)
  const foreign = told + TOLD * logCalls
  if (reply.length < foreign || (reply.length - foreign) % 3 !== 0) return undefined
  const foreignPlans = reply.slice(foreign)
  const blocks: number[] = []
  const states: unknown[] = []
  for (let slot = 0; slot < slots; slot += 1) {
    const [until = 0, unit = 0, ...numbers] = reply.slice(firstState + PER_STATE * slot, firstState + PER_STATE * (slot + 1))
    blocks.push(until)
    states.push(unit === 0 ? undefined : stateOf(question, slot, unit, numbers, foreignPlans))
  }
  let log = told
  let place = 0
  const verdicts: GroupVerdict[] = []
  for (const [index, { calls }] of groups.entries()) {
    const asked: GroupCall[] = []
    for (const { limit, cost, phase } of calls) {
      const driven = isLog(limit) ? toldLimit(limit, reply.slice(log, (log += TOLD)), now) : limit
      if (driven === undefined) return undefined
      asked.push({ slot: question.slots[place++] as number, limit: driven, cost, phase })
    }
    const result = applyGroup(states, asked, now, blocks, look)
    if (result.outcome !== OUTCOMES[reply[1 + index] as number]) return undefined
    for (const { slot, state } of result.writes) states[slot] = state
    verdicts.push(verdictOf(result, now))
  }
  return verdicts
}

function isLog({ algorithm }: AnyLimit): boolean {
  return algorithm.cells === 'log'
}

/**
 * @param unit the plan id in the reply: a window, an index into the plans of the request or, below 0, into the other plans it returned
 */
function stateOf(
  { firsts }: Question,
  slot: number,
  unit: number,
  [a = 0, b = 0, c = 0, hold = 0]: readonly number[],
  foreign: readonly number[],
): unknown {
  const { algorithm, plan } = (firsts[slot] as { limit: AnyLimit }).limit
  if (algorithm.cells === 'log') return undefined
  if (algorithm.tag !== 'tb') {
    const { width } = algorithm.cells
    return algorithm.codec.decodeState([...[a, b, c].slice(0, width), unit, hold])
  }
  const numbers = unit > 0 ? algorithm.codec.encodePlan(plan) : foreign.slice(-3 * (unit + 1), -3 * unit)
  return algorithm.codec.decodeState([a, b, c, hold, ...numbers])
}
