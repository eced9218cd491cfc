import type { MicroTokens } from '../algorithms/algorithm.ts'
import { HOLD_FORM, OBJECT, refuseUnknown, requireForm } from '../errors/options.ts'
import type { Claims, RequestFacts } from '../identity/request.ts'
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
  /** Milliseconds until the hold ends by itself, above 0 and at most a day; default 60,000. Its charge then stays. */
  readonly holdMs?: number | undefined
  /**
   * Names the hold: 1 to 128 printable ASCII characters; default: a new id. While the hold is open, a repeated request with its id is not
   * charged again. Afterwards the id is refused with ID_REUSED.
   */
  readonly id?: string | undefined
}

/** If the decision is not `allowed`, nothing is held. */
export interface EngineReservation {
  /** The decision, as `decide` returns it. */
  readonly decision: EngineDecision
  /** Names the hold, together with the request. */
  readonly id: string
}

/**
 * Holds the cost of a request, and charges later what was used. To change a hold, pass its id and the same request, under whose keys it is
 * stored. If its token may expire before, pass the same object: the claims of its latest 1,000 reservations are not verified again.
 */
export interface HoldRequests {
  /** Charges every enforcing rule that applies, all or nothing; shadow rules are charged separately. */
  reserve(request: RequestFacts | KeyRequest, options?: HoldOptions): Promise<EngineReservation>
  /** Counts what was used, in tokens. Without a number, what was held stays charged. */
  settle(request: RequestFacts | KeyRequest, id: string, actual?: number, options?: WaitOptions): Promise<Settlement>
  /** The hold ends `holdMs` milliseconds from now, or at its present end if that is later. */
  extend(request: RequestFacts | KeyRequest, id: string, holdMs: number, options?: WaitOptions): Promise<Extension>
  /** Ends the hold and gives everything back. */
  cancel(request: RequestFacts | KeyRequest, id: string, options?: WaitOptions): Promise<Settlement>
}

const HOLD: readonly string[] = [...WAIT, 'holdMs', 'id']
const HOLD_MS = 60_000
/** Of one request object, which may live as long as the process. */
const MAX_KEPT_CLAIMS = 1_000

/** @param secret unpredictable numbers in [0, 1) */
export function createHoldRequests(parts: VerbParts, secret: Random): HoldRequests {
  const { deciders, clock, report, timing } = parts
  const { chargedOf, keep } = charging(parts)
  const inShadow = createShadowHolds(deciders)
  const change = async (
    request: RequestFacts | KeyRequest,
    id: string,
    end: HoldEnd,
    options: WaitOptions | undefined,
    used = 0,
  ): Promise<Settlement> => {
    const { at, charged } = await chargedOf(request, { id, used })
    const charges = enforcing(charged.charges)
    const hold = { limiter: RULE_SET, id: validHoldId('engine', id), bound: at.bound }
    const names = charges.map(({ rule }) => rule.name)
    const shadows = charged.charges.filter(isShadow)
    // `timing` throws for wrong options. It comes first, because after that nobody would await the settlement.
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
      const { at, charged, claims } = await chargedOf(request)
      const enforced = enforcing(charged.charges)
      const shadows = charged.charges.filter(isShadow)
      const id = own === undefined ? newHoldId(enforced[0]?.call.id.key ?? '', secret) : validHoldId('engine', own)
      const started = clock.monotonic()
      const timed = timing(at, wait)
      const hold = { limiter: RULE_SET, id, micros: Math.ceil(holdMs * MICROS_PER_MS), final: false, bound: at.bound }
      const once =
        enforced.length === 0 ? undefined : await chargeOnce('engine', deciders, enforced.map(callOf), hold, policyOf(enforced), timed)
      // If this id was charged before, so were its shadow rules.
      const counted = once?.before === undefined ? shadows : []
      const shadowResults = await inShadow.reserve(counted, { id, micros: hold.micros }, timed)
      const from = { charges: charged, enforced, shadows: counted, result: once?.resolved, shadowResults }
      const decision = engineDecision(from, charged.request, clock)
      report?.(at, charged, { decision, from }, clock.monotonic() - started)
      if (!isRefused(decision)) keep(request, id, claims)
      // A refused request is never settled, so its slots are given back now.
      else if (shadows.some(({ call }) => takesSlots(call.limit))) await inShadow.change(shadows, id, 'stands', timing(at, wait))
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
  readonly at: Loaded
  readonly charged: ChargedRequest
  readonly claims: Claims | undefined
}

/**
 * For a change, every rule is charged `used`, even a rule that otherwise charges one request in several. The claims are then those of the
 * reservation, because a token may expire before its request has ended. They are known by the request object and the hold's id, never by
 * the token or the id alone.
 */
function charging({ verify, context, opened, loaded }: VerbParts) {
  const always: EngineContext = { ...context, random: () => 0 }
  const reserved = new WeakMap<object, Map<string, Claims | undefined>>()
  const keep = (request: RequestFacts | KeyRequest, id: string, claims: Claims | undefined): void => {
    if (verify === undefined || 'key' in request || hasClaims(request)) return
    const kept = reserved.get(request) ?? new Map<string, Claims | undefined>()
    reserved.set(request, kept.set(id, claims))
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT_CLAIMS && oldest !== undefined) kept.delete(oldest)
  }
  const claimsFor = async (facts: RequestFacts, id: string | undefined): Promise<Claims | undefined> => {
    const kept = id === undefined || hasClaims(facts) ? undefined : reserved.get(facts)
    return id !== undefined && kept?.has(id) === true ? kept.get(id) : claimsOf(verify, facts)
  }
  const chargedOf = async (
    request: RequestFacts | KeyRequest,
    change?: { readonly id: string; readonly used: MicroTokens },
  ): Promise<Charged> => {
    requireForm('engine', 'request', request, OBJECT)
    opened()
    const claims = 'key' in request ? undefined : await claimsFor(request, change?.id)
    // The engine may have been closed while the claims were verified.
    opened()
    const at = loaded()
    return { at, claims, charged: chargedRequest(at, request, claims, change === undefined ? context : always, change?.used) }
  }
  return { chargedOf, keep }
}

function hasClaims({ claims }: RequestFacts): boolean {
  return claims !== undefined && claims !== null
}

function isRefused({ outcome }: EngineDecision): boolean {
  return outcome === 'denied' || outcome === 'impossible'
}

function isShadow({ rule }: RuleCharge): boolean {
  return rule.mode === 'shadow'
}

function callOf({ call }: RuleCharge): RuleCharge['call'] {
  return call
}
