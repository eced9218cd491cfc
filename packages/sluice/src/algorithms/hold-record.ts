import { hash32 } from '../decision/jitter.ts'
import type { Micros } from '../time/micros.ts'
import type { Algorithm, AlgorithmName, AlgorithmTag, AnyLimit, CellBounds, Cells, MicroTokens } from './algorithm.ts'
import { compiled, kernel, stepOf } from './compiled.ts'

/** Microseconds for which an ended hold is remembered, so that a repeated settlement gets the first answer. */
export const KEPT_AFTER: Micros = 60_000_000

/** What one limit was charged for a hold. */
export interface HoldPart {
  /** A hash of the limit's scope (limiter, limit and algorithm), by which a settlement finds the limit. */
  readonly name: number
  /** Charged when the hold began. */
  readonly held: MicroTokens
  /** Counted for the hold now: `held` until the hold is settled. */
  readonly charged: MicroTokens
  /** Used by the hold, but could not be charged. */
  readonly overage: MicroTokens
  /** What `Algorithm.markOf` returned after the charge; 0 if settling needs none. */
  readonly mark: number
}

/** A hold that was charged at `at` and can be settled until `expires`. */
export interface HoldState {
  at: Micros
  expires: Micros
  /** 1 if settled, otherwise 0. */
  settled: number
  parts: readonly HoldPart[]
}

/** `parts`: the charges of the hold's calls, in order. In the group, these calls come directly before the record. */
export interface HoldPlan {
  readonly micros: Micros
  /** True if the hold will not be settled. */
  readonly final: boolean
  readonly parts: readonly Pick<HoldPart, 'name' | 'held'>[]
}

export const HOLD_TAG = 'ho'

export const RECORD_COST: MicroTokens = 1

/** Cached because most calls have the same scope. */
let [lastScope, lastName] = ['', hash32('')]

export function partName(scope: string): number {
  if (scope !== lastScope) lastName = hash32(scope)
  lastScope = scope
  return lastName
}

function forgottenAt({ expires }: HoldState): Micros {
  return expires + KEPT_AFTER
}

/**
 * Records a hold (a charge that is settled later). The record is in the group of its calls, so it is written only if they are charged. An
 * existing record denies the group, so a hold is charged once.
 */
const holdKernel: Algorithm<HoldPlan, HoldState> = kernel({
  // Casts, because `AlgorithmName` lists only algorithms of limits that users configure.
  name: 'hold' as AlgorithmName,
  tag: HOLD_TAG as AlgorithmTag,
  step: () => stepOf<HoldState>({ at: 0.5, expires: 0.5, settled: 0, parts: [] }),
  decide(plan, state, now, cost, _phase, into = holdKernel.step()) {
    const isThere = state !== undefined && now < forgottenAt(state)
    const after = isThere
      ? state
      : {
          at: now,
          expires: now + plan.micros,
          settled: plan.final ? 1 : 0,
          parts: plan.parts.map(({ name, held }) => ({ name, held, charged: held, overage: 0, mark: 0 })),
        }
    const wait = forgottenAt(after) - now
    into.outcome = cost > RECORD_COST ? 'impossible' : isThere ? 'denied' : 'allowed'
    into.retryAfter = into.outcome === 'denied' ? wait : 0
    into.state = into.outcome === 'allowed' ? after : state
    into.remaining = 0
    into.replenishAfter = wait
    into.resetAfter = wait
    return into
  },
  note({ parts: planned }, state, before) {
    const charged = before.slice(before.length - planned.length)
    const parts = state.parts.map((part, index) => {
      const { limit, state: after } = charged[index] as (typeof charged)[number]
      const mark: number = limit.algorithm.markOf?.(after) ?? 0
      return mark === 0 ? part : { ...part, mark }
    })
    return { ...state, parts }
  },
  adopt: (_plan, state, now) => (now < forgottenAt(state) ? state : undefined),
  adjust: (_plan, state) => state,
  view(_plan, state, now) {
    const wait = state === undefined ? 0 : Math.max(0, forgottenAt(state) - now)
    return { remaining: 0, replenishAfter: wait, resetAfter: wait }
  },
  expiresAt: (_plan, state) => forgottenAt(state),
  // The loosest bound, so that a record never counts as the strictest limit of its group.
  envelope: () => ({ n: Number.MAX_SAFE_INTEGER, m: 1, burst: Number.MAX_SAFE_INTEGER }),
  codec: {
    encodePlan: () => [],
    encodeState: ({ at, expires, settled, parts }) => [
      at,
      expires,
      settled,
      ...parts.flatMap(({ name, held, charged, overage, mark }) => [name, held, charged, overage, mark]),
    ],
    decodeState([at = 0, expires = 0, settled = 0, ...numbers]) {
      const parts: HoldPart[] = []
      for (let from = 0; from < numbers.length; from += PART_WIDTH) {
        const [name = 0, held = 0, charged = 0, overage = 0, mark = 0] = numbers.slice(from, from + PART_WIDTH)
        parts.push({ name, held, charged, overage, mark })
      }
      return { at, expires, settled, parts }
    },
  },
  cells: 'log',
  logCells: holdCells,
})

const PART_WIDTH = 5

export function holdRecord(plan: HoldPlan): AnyLimit {
  return compiled(holdKernel, plan, RECORD_COST, plan.micros)
}

export function isRecord({ algorithm }: AnyLimit): boolean {
  return algorithm.note !== undefined
}

/** The limit with which existing records are read and changed. */
export const HOLD_RECORDS: AnyLimit = holdRecord({ micros: 0, final: false, parts: [] })

/** Bytes of a record without parts, and of each part; upper estimates. */
const [RECORD_BYTES, PART_BYTES] = [96, 72]

function holdCells({ maxBytes, maxHolds }: CellBounds): Cells<HoldState> {
  const records: (HoldState | undefined)[] = [undefined]
  const free: number[] = []
  let [bytes, count] = [0, 0]
  const sizeAt = (cells: Float64Array, at: number): number => sizeOf(at < 0 ? undefined : records[cells[at] as number])
  return {
    width: 1,
    save({ at: charged, expires, settled, parts }, cells, at) {
      bytes -= sizeAt(cells, at)
      let index = cells[at] as number
      if (index === 0) {
        index = free.pop() ?? records.length
        count += 1
        cells[at] = index
      }
      records[index] = { at: charged, expires, settled, parts }
      bytes += sizeAt(cells, at)
    },
    load: (_sample, cells, at, into) => void Object.assign(into, records[cells[at] as number]),
    samePlan: () => true,
    planNumbers: () => [],
    fits: (state, cells, at) => (at >= 0 || count < maxHolds) && bytes - sizeAt(cells, at) + sizeOf(state) <= maxBytes,
    release(cells, at) {
      bytes -= sizeAt(cells, at)
      count -= 1
      const index = cells[at] as number
      records[index] = undefined
      free.push(index)
    },
  }
}

function sizeOf(state: HoldState | undefined): number {
  return state === undefined ? 0 : RECORD_BYTES + PART_BYTES * state.parts.length
}
