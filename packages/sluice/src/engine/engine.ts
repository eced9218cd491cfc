/// <reference lib="esnext.disposable" preserve="true" />
import type { MicroTokens } from '../algorithms/algorithm.ts'
import { microCost } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, type Form, FUNCTION, LIST, OBJECT, refuseUnknown, requireForm } from '../errors/options.ts'
import { headerLines } from '../identity/headers.ts'
import { type Claims, readRequest, type RequestFacts, requireClaims } from '../identity/request.ts'
import { validKey } from '../keys/encode.ts'
import { createStoreCaller } from '../limiter/call-store.ts'
import type { Deciders } from '../limiter/on-failure.ts'
import { type Deadline, timingOf, WAIT, type WaitOptions } from '../limiter/timing.ts'
import { notify, type Observer } from '../observe/events.ts'
import type { HeaderChoice } from '../policy/model/header-choice.ts'
import type { Policy } from '../policy/model/policy.ts'
import { finish, inSlices } from '../policy/model/sliced.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import { type ChargedRequest, decideRequests } from './decide-requests.ts'
import { type EngineDecision, resultsOf } from './engine-decision.ts'
import { explainRules, type Explanation } from './explain.ts'
import type { OverrideFields } from '../policy/override-value.ts'
import type { Override } from '../policy/model/rule.ts'
import { type KeyOverrides, overrideVerbs } from './key-overrides.ts'
import { type KeyVerbs, keyVerbs } from './keys.ts'
import { load, type Loaded, NOBODY, type Pseudonym, type Surroundings } from './loaded.ts'
import { OverrideTable } from './overrides.ts'
import { chargeReporter } from './report-charges.ts'
import { chargesOf, chargesOfKey, contextOf, type EngineContext } from './request-charges.ts'
import { RULE_SET } from './rule-charge.ts'

export interface EngineParts extends Surroundings {
  readonly policy: Policy
  /** It stays open when the engine is closed. */
  readonly store: Store
  /** Decides in this process if the store fails and the policy is `local`. Undefined: nothing does, and such requests are refused. */
  readonly local: Store | undefined
  readonly clock: Time
  /** Verifies the token of a request and returns its claims, if the facts contain none. If it throws, there are no claims. */
  readonly claims?: ((facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>) | undefined
  readonly observers: readonly Observer[]
  /** Hashes keys for observers if the policy keeps keys in clear. */
  readonly hashKeys: Pseudonym
  /** Chooses the requests that sampled rules count. */
  readonly random: Random
}

/** `signal` stops waiting for a remote store; `deadlineMs` replaces the policy's deadline. */
export type DecideOptions = WaitOptions

export interface KeyRequest {
  readonly key: string
  /** Name of one rule. Default: every rule that has no condition on path, method or host. */
  readonly limit?: string
  /** Default: what the rule charges a request of which nothing is known. */
  readonly cost?: number
}

/** Decides requests by a policy, from the facts of each request. */
export interface Engine extends AsyncDisposable, KeyVerbs, KeyOverrides {
  readonly policy: Policy
  /** The policy's choice of response headers. */
  readonly headers: HeaderChoice
  /** Charges every enforcing rule that applies, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. */
  decide(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** As `decide`, for a key that the caller already knows. The key counts as the first value of a rule's key. */
  decideKey(request: KeyRequest, options?: DecideOptions): Promise<EngineDecision>
  /**
   * As `decide` and `decideKey`, for several requests in one store call. They are decided in order and independently, by one policy. On
   * misuse it rejects before anything is charged, and names the request by its index, from 0.
   */
  decideMany(requests: readonly (RequestFacts | KeyRequest)[], options?: DecideOptions): Promise<EngineDecision[]>
  /** Reports what `decide` would decide (outcome and retryAfter) and charges nothing. Views do not include the cost. */
  peek(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** Reports which rules apply, with keys and limits, and why the others do not. Calls no store. */
  explain(facts: RequestFacts): Promise<Explanation>
  /**
   * Overrides the limit of one key of one rule from the next decision on. Fields are named as in the policy file. It takes precedence over
   * the file's overrides and outlives a reload. The key keeps what it has left, capped at the new limit.
   * @throws LimiterError INVALID_OPTIONS naming each invalid field, also an `until` that has passed; or if there are too many already
   */
  override(fields: OverrideFields): Override
  /** The overrides that were set by `override` and are in force. */
  overrides(): readonly Override[]
  /** Removes an override that was set by `override`; returns whether there was one. */
  withdraw(override: Pick<Override, 'rule' | 'values'>): boolean
  /** Uses another policy from the next decision on. Decisions in flight finish with the policy that they began with. */
  reload(policy: Policy): void
  /**
   * As `reload` in two steps, for a large policy while other work goes on. It loads the policy in slices of a few milliseconds. The
   * returned function activates the policy. Rejects if `reload` would throw.
   * @param options.pseudonym replaces the engine's from then on
   */
  prepare(policy: Policy, options?: { readonly pseudonym?: Pseudonym | undefined }): Promise<() => void>
  close(): Promise<void>
}

/** Milliseconds for which `prepare` blocks the thread at a time. */
const SLICE_MS = 2

const PREPARE: Readonly<Record<string, Form>> = { pseudonym: FUNCTION }
const KEY_REQUEST: readonly string[] = ['key', 'limit', 'cost']

/** Builds an engine from its parts. `createEngine` fills in the defaults. */
export function buildEngine(parts: EngineParts): Engine {
  const { store, clock, observers, random } = parts
  const main = createStoreCaller(store, clock, observers)
  const deciders: Deciders = { main, local: parts.local === undefined ? undefined : createStoreCaller(parts.local, clock) }
  const { sync } = store.capabilities
  let loaded = finish(load(parts.policy, parts))
  let closed = false
  const live = new OverrideTable()
  const context: EngineContext = { live, now: () => clock.now(), random }

  const timing = ({ policy }: Loaded, options?: DecideOptions): CallOptions => {
    if (options !== undefined) refuseUnknown('engine', options, WAIT)
    return timingOf('engine', clock, sync ? undefined : deadlineOf(policy, store), options)
  }
  const opened = (): void => {
    if (closed) throw new LimiterError('CLOSED', 'the engine is closed')
  }
  const claimed = async (facts: RequestFacts): Promise<Claims | undefined> => {
    opened()
    requireForm('engine', 'facts', facts, OBJECT)
    return claimsOf(parts.claims, facts)
  }
  const byFacts = (at: Loaded, facts: RequestFacts, claims: Claims | null | undefined): ChargedRequest => {
    const cost = costOf(facts)
    const request = readRequest(facts, claims, at.trust)
    return { request, route: facts.route ?? undefined, ...chargesOf(at, request, cost, context) }
  }
  const byKey = (at: Loaded, request: KeyRequest): ChargedRequest => {
    refuseUnknown('engine', request, KEY_REQUEST)
    const { key, limit } = request
    validKey('engine', key)
    return { request: NOBODY, route: undefined, ...chargesOfKey(at, key, limit, costOf(request), context) }
  }
  const report = (decision: EngineDecision, route: string | undefined, durationMs: number): void =>
    notify(observers, 'onDecision', {
      limiter: RULE_SET,
      store: store.name,
      ...(route === undefined ? {} : { route }),
      decision,
      results: resultsOf(decision),
      durationMs,
    })
  const reportCharges = chargeReporter(observers, parts.hashKeys)
  const decideAll = async (
    at: Loaded,
    requests: readonly ChargedRequest[],
    options: DecideOptions | undefined,
  ): Promise<EngineDecision[]> => {
    const started = clock.monotonic()
    const decisions = await decideRequests(deciders, requests, timing(at, options), clock)
    const durationMs = clock.monotonic() - started
    if (observers.length === 0) return decisions
    for (const [index, decision] of decisions.entries()) {
      const { route, charges } = requests[index] as ChargedRequest
      report(decision, route, durationMs)
      reportCharges?.(at, charges, decision)
    }
    return decisions
  }
  const close = async (): Promise<void> => {
    closed = true
  }
  const keys = keyVerbs(
    main,
    () => ({ policy: loaded.policy, context: contextOf(loaded, context) }),
    (options) => {
      opened()
      return timing(loaded, options)
    },
  )
  return {
    ...keys,
    ...overrideVerbs(() => loaded, live, context.now),
    get policy() {
      return loaded.policy
    },
    get headers() {
      return loaded.policy.headers
    },
    async decide(facts, options) {
      const claims = await claimed(facts)
      const at = loaded
      return only(await decideAll(at, [byFacts(at, facts, claims)], options))
    },
    async decideKey(request, options) {
      opened()
      const at = loaded
      return only(await decideAll(at, [byKey(at, request)], options))
    },
    async decideMany(requests, options) {
      opened()
      requireForm('engine', 'requests', requests, LIST)
      requests.forEach((request, index) => requireForm('engine', `request ${index}`, request, OBJECT))
      const claims = await Promise.all(requests.map((request) => claimsOf(parts.claims, request)))
      const at = loaded
      const charged = requests.map((request, index) =>
        named(index, () => ('key' in request ? byKey(at, request) : byFacts(at, request, claims[index] ?? request.claims))),
      )
      return decideAll(at, charged, options)
    },
    async peek(facts, options) {
      const claims = await claimed(facts)
      const at = loaded
      return only(await decideRequests(deciders, [byFacts(at, facts, claims)], { ...timing(at, options), charge: false }, clock))
    },
    async explain(facts) {
      const claims = await claimed(facts)
      const at = loaded
      return explainRules(at.policy, readRequest(facts, claims, at.trust), costOf(facts), contextOf(at, context))
    },
    reload(policy) {
      loaded = finish(load(policy, parts))
    },
    async prepare(policy, options = {}) {
      checkOptions('engine', options, PREPARE)
      const { pseudonym = parts.pseudonym } = options
      const ready = await inSlices(load(policy, { ...parts, pseudonym }), clock, SLICE_MS)
      return () => void (loaded = ready)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A deadline that the policy states is hard. */
function deadlineOf({ failure: { deadlineMs, defaultDeadline } }: Policy, { capabilities }: Store): Deadline {
  if (defaultDeadline !== true) return { ms: deadlineMs }
  return capabilities.deadlineMs === undefined ? { ms: deadlineMs, stretch: true } : { ms: capabilities.deadlineMs }
}

/** The verified claims of a request. Claims that cannot be verified are ignored, whatever the reason. */
async function claimsOf(claims: EngineParts['claims'], facts: RequestFacts | KeyRequest): Promise<Claims | undefined> {
  if ('key' in facts) return undefined
  requireClaims(facts.claims)
  if (facts.claims !== undefined && facts.claims !== null) return facts.claims
  try {
    // With two tokens, the upstream might read the other one.
    if (
      claims === undefined ||
      headerLines({ headers: facts.headers, rawHeaders: facts.rawHeaders ?? undefined }, 'authorization').length > 1
    )
      return undefined
    return await claims(facts)
  } catch {
    return undefined
  }
}

function costOf({ cost }: Pick<KeyRequest, 'cost'>): MicroTokens | undefined {
  return cost === undefined ? undefined : microCost(cost)
}

function only<T>(one: readonly T[]): T {
  return one[0] as T
}

function named<T>(index: number, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw error instanceof LimiterError ? new LimiterError(error.code, `request ${index}: ${error.message}`, { cause: error }) : error
  }
}
