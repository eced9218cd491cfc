import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { HOLD_FORM, refuseUnknown, requireForm, shown } from '../errors/options.ts'
import { validKey } from '../keys/encode.ts'
import type { CallGroup } from '../stores/store.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Random, Stopwatch } from '../time/time.ts'
import type { OnceOptions } from './check-options.ts'
import type { CheckParts } from './check-parts.ts'
import { requireChange } from './decidable.ts'
import { changeHold, type HoldEnd, NOTHING_HELD, usedOf } from './held-change.ts'
import { chargeOnce } from './held-group.ts'
import { takesSlots } from './holders.ts'
import { newHoldId, validHoldId } from './hold-id.ts'
import type { Resolved } from './on-failure.ts'
import type { Extension, Reservation, ReserveOptions, Reserving, Settlement } from './reservation.ts'
import { ONCE, WAIT, type WaitOptions } from './timing.ts'

/** Default `holdMs`: of `reserve`, and of `check` with an id. */
const [HOLD_MS, REMEMBERED_MS] = [60_000, 600_000]

export interface HoldParts extends CheckParts {
  readonly random: Random
  readonly finish: (resolved: Resolved, group: CallGroup, watch: Stopwatch | undefined) => Decision
  readonly start: () => Stopwatch | undefined
}

export interface Holds extends Reserving {
  checkOnce(key: string, options: OnceOptions): Promise<Decision>
}

export function createHolds(parts: HoldParts): Holds {
  const { where, name, bound, limits, calls, deciders, finish, onStoreFailure, random, releases, start, timing } = parts
  const names = limits.map((limit) => limit.name)
  const check = checksOf(parts)
  const hasSlots = limits.some(({ limit }) => takesSlots(limit))

  const charge = (key: string, id: string, options: ReserveOptions, final: boolean): Promise<Decision> => {
    const { cost, holdMs = final ? REMEMBERED_MS : HOLD_MS } = options
    check.holdMs(holdMs)
    requireChange(where, deciders.main.store, 'settle')
    const group = calls.groupOf(key, cost)
    const watch = start()
    const hold = { limiter: name, id, micros: Math.ceil(holdMs * MICROS_PER_MS), final, bound: final ? undefined : bound }
    return chargeOnce(where, deciders, group.calls, hold, onStoreFailure, timing(options)).then(({ resolved, before }) => {
      const decision = finish(resolved, { calls: group.calls, options: { hold } }, watch)
      // A refund must find the window of the first charge.
      return before === undefined ? decision : { ...decision, atMicros: before }
    })
  }
  const change = async (key: string, id: string, end: HoldEnd, options: WaitOptions | undefined, used = 0): Promise<Settlement> => {
    check.wait(options)
    const all = calls.settledOf(key, used)
    const hold = { limiter: name, id: validHoldId(where, id), bound }
    const settlement = await changeHold(where, deciders, all, hold, end, names, () => timing(options))
    if (hasSlots && typeof end !== 'number') releases.report(key)
    return settlement
  }
  const settle: Reserving['settle'] = async (key, id, actual, options) => {
    const used = usedOf(actual)
    return change(key, id, used === undefined ? 'stands' : 'used', options, used)
  }
  const cancel: Reserving['cancel'] = (key, id, options) => settle(key, id, 0, options)
  const extend: Reserving['extend'] = async (key, id, holdMs, options): Promise<Extension> => {
    check.holdMs(holdMs)
    const { status, expiresAt } = await change(key, id, holdMs, options)
    return expiresAt === undefined ? { status } : { status, expiresAt }
  }
  return {
    async checkOnce(key, options) {
      if (options.id !== undefined) return charge(key, validHoldId(where, options.id), options, true)
      throw new LimiterError('INVALID_OPTIONS', `${where}: holdMs is ${shown(options.holdMs)}, expected only together with id`)
    },
    async reserve(key, options = {}) {
      refuseUnknown(where, options, ONCE)
      validKey(where, key)
      const id = options.id === undefined ? newHoldId(key, random) : validHoldId(where, options.id)
      const decision = await charge(key, id, options, false)
      if (decision.outcome === 'denied' || decision.outcome === 'impossible') return refused(decision, id, check)
      return {
        decision,
        id,
        settle: (actual, wait) => settle(key, id, actual, wait),
        extend: (holdMs, wait) => extend(key, id, holdMs, wait),
        cancel: (wait) => cancel(key, id, wait),
      }
    },
    settle,
    extend,
    cancel,
  }
}

interface Checks {
  wait(options: WaitOptions | undefined): void
  holdMs(holdMs: unknown): void
}

function checksOf({ where, timing }: HoldParts): Checks {
  return {
    wait(options) {
      if (options === undefined) return
      refuseUnknown(where, options, WAIT)
      timing(options)
    },
    holdMs: (holdMs) => requireForm(where, 'holdMs', holdMs, HOLD_FORM),
  }
}

/** Holds nothing. The methods still check their arguments, so that wrong ones are found in any case. */
function refused(decision: Decision, id: string, check: Checks): Reservation {
  return {
    decision,
    id,
    async settle(actual, options) {
      usedOf(actual)
      check.wait(options)
      return NOTHING_HELD
    },
    async extend(holdMs, options) {
      check.holdMs(holdMs)
      check.wait(options)
      return { status: 'unknown' }
    },
    async cancel(options) {
      check.wait(options)
      return NOTHING_HELD
    },
  }
}
