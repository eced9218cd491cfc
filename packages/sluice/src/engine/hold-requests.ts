import type { MicroTokens } from '../algorithms/algorithm.ts'
import { HOLD_FORM, OBJECT, refuseUnknown, requireForm } from '../errors/options.ts'
import type { RequestFacts } from '../identity/request.ts'
import { requireChange } from '../limiter/decidable.ts'
import { changeHold, type HoldEnd, NOTHING_HELD, usedOf } from '../limiter/held-change.ts'
import { chargeOnce } from '../limiter/held-group.ts'
import { newHoldId, validHoldId } from '../limiter/hold-id.ts'
import { takesSlots } from '../limiter/holders.ts'
import type { Extension, Settlement } from '../limiter/reservation.ts'
import { WAIT, type WaitOptions } from '../limiter/timing.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import type { Random } from '../time/time.ts'
import { chargedRequest } from './charged-request.ts'
import { claimsOf } from './claims-of.ts'
import type { ChargedRequest } from './decide-requests.ts'
import { type EngineDecision, engineDecision } from './engine-decision.ts'
import type { KeyRequest } from './key-request.ts'
import type { Loaded } from './loaded.ts'
import type { EngineContext } from './request-charges.ts'
import { enforcing, policyOf, RULE_SET, type RuleCharge } from './rule-charge.ts'
import { createShadowHolds } from './shadow-holds.ts'
import type { VerbParts } from './verb-parts.ts'

/** Options of the engine's `reserve`. */
export interface HoldOptions extends WaitOptions {
  /**
   * Milliseconds until the hold ends by itself, above 0 and at most a day; default 60,000. What the hold has charged then stays charged.
   */
  readonly holdMs?: number
  /**
   * Names the hold: 1 to 128 printable ASCII characters. A request that is repeated with the same id while its hold is open is not charged
   * again. After the hold was settled or has ended, its id is refused with ID_REUSED. Default: a new id.
   */
  readonly id?: string
}

/** The answer to the engine's `reserve`. If the decision is not `allowed`, nothing is held. */
export interface EngineReservation {
  /** The decision, as `decide` returns it. */
  readonly decision: EngineDecision
  /** Names the hold, together with the request. */
  readonly id: string
}

/**
 * Verbs of an engine that hold the cost of a request, and charge later what was used. To change a hold, pass its id and the same request
 * again. The request is needed because the hold is stored under the request's keys.
 */
export interface HoldRequests {
  /**
   * Charges every enforcing rule that applies, all or nothing, and remembers the charge until it is settled. Each shadow rule is charged
   * separately, but `settle` settles enforcing and shadow rules together.
   */
  reserve(request: RequestFacts | KeyRequest, options?: HoldOptions): Promise<EngineReservation>
  /** Counts what was used, in tokens, for every rule that the hold has charged. Without a number what was held stays charged. */
  settle(request: RequestFacts | KeyRequest, id: string, actual?: number, options?: WaitOptions): Promise<Settlement>
  /** Extends the hold to end `holdMs` milliseconds from now. A hold that ends later already stays as it is. */
  extend(request: RequestFacts | KeyRequest, id: string, holdMs: number, options?: WaitOptions): Promise<Extension>
  /** Ends the hold and gives everything back. */
  cancel(request: RequestFacts | KeyRequest, id: string, options?: WaitOptions): Promise<Settlement>
}

const HOLD: readonly string[] = [...WAIT, 'holdMs', 'id']
const HOLD_MS = 60_000

/** @param secret unpredictable random numbers in [0, 1), from which the ids of holds are made */
export function createHoldRequests(parts: VerbParts, secret: Random): HoldRequests {
  const { deciders, clock, report, timing } = parts
  const chargedOf = charging(parts)
  const inShadow = createShadowHolds(deciders)
  const change = async (
    request: RequestFacts | KeyRequest,
    id: string,
    end: HoldEnd,
    options: WaitOptions | undefined,
    used = 0,
  ): Promise<Settlement> => {
    const { at, charged } = await chargedOf(request, used)
    const charges = enforcing(charged.charges)
    const hold = { limiter: RULE_SET, id: validHoldId('engine', id), bound: at.bound }
    const names = charges.map(({ rule }) => rule.name)
    const shadows = charged.charges.filter(isShadow)
    // `timing` throws for wrong options, so it is called before the settlement begins. After a throw nobody would await the promise of a
    // settlement that had begun.
    const timed = timing(at, options)
    const settlement =
      charges.length === 0 ? NOTHING_HELD : changeHold('engine', deciders, charges.map(callOf), hold, end, names, () => timing(at, options))
    if (shadows.length === 0) return settlement
    const [answer] = await Promise.all([settlement, inShadow.change(shadows, hold.id, end, timed)])
    return answer
  }
  const settle: HoldRequests['settle'] = async (request, id, actual, options) => {
    const used = usedOf(actual)
    return change(request, id, used === undefined ? 'stands' : 'used', options, used)
  }
  return {
    async reserve(request, options = {}) {
      refuseUnknown('engine', options, HOLD)
      const { holdMs = HOLD_MS, id: own, ...wait } = options
      requireForm('engine', 'holdMs', holdMs, HOLD_FORM)
      requireChange('engine', deciders.main.store, 'settle')
      const { at, charged } = await chargedOf(request)
      const enforced = enforcing(charged.charges)
      const shadows = charged.charges.filter(isShadow)
      const id = own === undefined ? newHoldId(enforced[0]?.call.id.key ?? '', secret) : validHoldId('engine', own)
      const started = clock.monotonic()
      const timed = timing(at, wait)
      const hold = { limiter: RULE_SET, id, micros: Math.ceil(holdMs * MICROS_PER_MS), final: false, bound: at.bound }
      const once =
        enforced.length === 0 ? undefined : await chargeOnce('engine', deciders, enforced.map(callOf), hold, policyOf(enforced), timed)
      // If the request was charged before under this id, its shadow rules were charged then, and are not charged again.
      const counted = once?.before === undefined ? shadows : []
      const shadowResults = await inShadow.reserve(counted, { id, micros: hold.micros }, timed)
      const from = { charges: charged, enforced, shadows: counted, result: once?.resolved, shadowResults }
      const decision = engineDecision(from, charged.request, clock)
      report?.(at, charged, { decision, from }, clock.monotonic() - started)
      // A refused request is never settled, so the slots that its shadow rules took are given back now.
      const isRefused = decision.outcome === 'denied' || decision.outcome === 'impossible'
      if (isRefused && shadows.some(({ call }) => takesSlots(call.limit))) await inShadow.change(shadows, id, 'stands', timing(at, wait))
      return { decision, id }
    },
    settle,
    async extend(request, id, holdMs, options) {
      requireForm('engine', 'holdMs', holdMs, HOLD_FORM)
      const { status, expiresAt } = await change(request, id, holdMs, options)
      return expiresAt === undefined ? { status } : { status, expiresAt }
    },
    cancel: (request, id, options) => settle(request, id, 0, options),
  }
}

interface Charged {
  /** The policy that charges the request. */
  readonly at: Loaded
  readonly charged: ChargedRequest
}

/**
 * Makes the function that computes what a request is charged. If `used` is passed, every rule is charged `used`, even a rule that otherwise
 * charges only one request in several (`sample`).
 */
function charging({ verify, context, opened, loaded }: VerbParts) {
  const always: EngineContext = { ...context, random: () => 0 }
  return async (request: RequestFacts | KeyRequest, used?: MicroTokens): Promise<Charged> => {
    requireForm('engine', 'request', request, OBJECT)
    opened()
    const claims = 'key' in request ? undefined : await claimsOf(verify, request)
    // The engine may have been closed while the claims were verified.
    opened()
    const at = loaded()
    return { at, charged: chargedRequest(at, request, claims, used === undefined ? context : always, used) }
  }
}

function isShadow({ rule }: RuleCharge): boolean {
  return rule.mode === 'shadow'
}

function callOf({ call }: RuleCharge): RuleCharge['call'] {
  return call
}
