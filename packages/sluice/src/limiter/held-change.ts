import { COST_FORM, fromMicroTokens, toMicroTokens } from '../algorithms/decimal.ts'
import type { MicroTokens } from '../algorithms/algorithm.ts'
import type { HeldPart, HoldReport } from '../algorithms/settle-hold.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Call, CallOptions, HoldChange } from '../stores/store.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { StoreCaller } from './call-store.ts'
import { requireChange } from './decidable.ts'
import { keysOf, type NewHold, recordOf } from './held-group.ts'
import { openHold } from './hold-bound.ts'
import { takesSlots } from './holders.ts'
import type { Deciders } from './on-failure.ts'
import type { Settlement, SettledLimit } from './reservation.ts'

/** A change is sent again if it is unknown whether the store made it. A repeated change has no further effect. */
const TRIES = 2

/**
 * `used`: the reservation is charged with what was used. `stands`: it is settled with its original charge. A number: it ends no earlier
 * than this many milliseconds from now.
 */
export type HoldEnd = 'used' | 'stands' | number

/**
 * Changes a reservation in the store, and in the local fallback, which may have charged it while the store failed.
 * @param calls the cost of each is what was used
 */
export async function changeHold(
  where: string,
  { main, local }: Deciders,
  calls: readonly Call[],
  { limiter, id, bound }: Pick<NewHold, 'limiter' | 'id' | 'bound'>,
  end: HoldEnd,
  names: readonly string[],
  timing: () => CallOptions,
): Promise<Settlement> {
  // Slots do not count what was used: a cost of 0 means no overage.
  const all = calls.map((call) => (takesSlots(call.limit) ? { ...call, cost: 0 } : call))
  const changes = keysOf(calls).map((key): HoldChange => {
    const own = [...(all.length === 1 ? all : all.filter((call) => call.id.key === key)), ...openHold(bound, key)]
    const record = recordOf(limiter, key, id)
    if (typeof end === 'number') return { kind: 'extend', id: record, calls: own, holder: id, micros: Math.ceil(end * MICROS_PER_MS) }
    if (end === 'stands') return { kind: 'settle', id: record, calls: own, holder: id, stands: true }
    return { kind: 'settle', id: record, calls: own, holder: id }
  })
  for (const { kind } of changes) requireChange(where, main.store, kind)
  if (local === undefined) return settlementOf(calls, changes, await reported(main, changes, timing), names)
  const here = changes.every(({ kind }) => local.store.capabilities.changes.includes(kind)) ? local : undefined
  const [there, fallback] = await Promise.allSettled([reported(main, changes, timing), here && reported(here, changes, timing, 1)])
  const known =
    fallback.status === 'fulfilled' && fallback.value?.some(({ status }) => status !== 'unknown') === true ? fallback.value : undefined
  if (there.status === 'rejected' && known === undefined) throw there.reason
  const reports = there.status === 'rejected' || there.value.every(({ status }) => status === 'unknown') ? known : there.value
  return settlementOf(calls, changes, reports ?? [], names)
}

async function reported(
  store: StoreCaller,
  changes: readonly HoldChange[],
  timing: () => CallOptions,
  tries = TRIES,
): Promise<readonly HoldReport[]> {
  const options = timing()
  try {
    const results = await store.change(changes, options)
    return results.map(({ hold }) => hold ?? UNKNOWN)
  } catch (error) {
    if (tries <= 1 || options.signal?.aborted === true || (error as { readonly executed?: unknown }).executed !== 'unknown') throw error
    return reported(store, changes, timing, tries - 1)
  }
}

const UNKNOWN: HoldReport = { status: 'unknown', expires: 0, parts: [] }

function settlementOf(
  calls: readonly Call[],
  changes: readonly HoldChange[],
  reports: readonly HoldReport[],
  names: readonly string[],
): Settlement {
  const limits: SettledLimit[] = []
  let most = 0
  for (let index = 0; index < calls.length; index += 1) {
    const part = partOf(index, calls, changes, reports)
    if (part === undefined) continue
    const overage = fromMicroTokens(part.overage)
    most = Math.max(most, overage)
    limits.push({ name: names[index] as string, held: fromMicroTokens(part.held), charged: fromMicroTokens(part.charged), overage })
  }
  const known = reports.filter(({ status }) => status !== 'unknown')
  const repeated = known.length > 0 && known.every((report) => report.repeated === true)
  if (known.length === 0) return { status: 'unknown', repeated, limits, overage: most }
  const status = known.find((report) => report.status !== 'settled')?.status ?? 'settled'
  const expires = known.reduce((latest, report) => Math.max(latest, report.expires), 0)
  return { status, expiresAt: Math.ceil(expires / MICROS_PER_MS), repeated, limits, overage: most }
}

/** The report of a key has one part for each of its calls, in order. */
function partOf(
  index: number,
  calls: readonly Call[],
  changes: readonly HoldChange[],
  reports: readonly HoldReport[],
): HeldPart | undefined {
  if (changes.length === 1) return reports[0]?.parts[index]
  const { key } = (calls[index] as Call).id
  const at = changes.findIndex(({ id }) => id.key === key)
  const own = calls.filter(({ id }) => id.key === key)
  return reports[at]?.parts[own.indexOf(calls[index] as Call)]
}

export const NOTHING_HELD: Settlement = Object.freeze({ status: 'unknown', repeated: false, limits: [], overage: 0 })

/**
 * In micro-tokens; undefined if the caller did not say.
 * @throws LimiterError INVALID_COST
 */
export function usedOf(actual: unknown): MicroTokens | undefined {
  const micro = typeof actual === 'number' ? toMicroTokens(actual) : undefined
  if (micro !== undefined || actual === undefined) return micro
  throw new LimiterError('INVALID_COST', `the actual cost is ${shown(actual)}, expected a number of at least 0 ${COST_FORM}`)
}
