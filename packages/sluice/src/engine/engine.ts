/// <reference lib="esnext.disposable" preserve="true" />
import type { MicroTokens } from '../algorithms/algorithm.ts'
import { microCost } from '../algorithms/decimal.ts'
import type { OnWarning } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, type Form, FUNCTION, LIST, OBJECT, refuseUnknown, requireForm } from '../errors/options.ts'
import { type Claims, readRequest, type RequestFacts } from '../identity/request.ts'
import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import { validKey } from '../keys/encode.ts'
import { createStoreCaller } from '../limiter/call-store.ts'
import type { Deciders } from '../limiter/on-failure.ts'
import { type Deadline, timingOf, WAIT, type WaitOptions } from '../limiter/timing.ts'
import type { Observer } from '../observe/events.ts'
import type { HeaderChoice } from '../policy/model/header-choice.ts'
import type { Policy } from '../policy/model/policy.ts'
import { finish, inSlices } from '../policy/model/sliced.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Random, Stopwatch, Time } from '../time/time.ts'
import { claimsOf } from './claims-of.ts'
import { type ChargedRequest, decideRequests, type Made } from './decide-requests.ts'
import type { EngineDecision } from './engine-decision.ts'
import { createHoldRequests, type HoldRequests } from './hold-requests.ts'
import { explainRules, type Explanation } from './explain.ts'
import type { OverrideFields } from '../policy/override-value.ts'
import type { Override } from '../policy/model/rule.ts'
import { createHolds, type HoldVerbs } from './holds.ts'
import { type KeyOverrides, overrideVerbs } from './key-overrides.ts'
import type { KeyRequest } from './key-request.ts'
import { type KeyVerbs, keyVerbs } from './keys.ts'
import { load, type Loaded, NOBODY, type Pseudonym, type Surroundings } from './loaded.ts'
import { OverrideTable } from './overrides.ts'
import { createReport } from './report.ts'
import { chargesOf, chargesOfKey, contextOf, type EngineContext } from './request-charges.ts'

export type { KeyRequest } from './key-request.ts'

/** Options of `createEngine`. */
export interface EngineOptions {
  /** What `parsePolicy` returns. */
  readonly policy: Policy
  /** It stays open when the engine is closed. */
  readonly store: Store
  /** Time for decisions in memory, for deadlines, and for the end of overrides; default the system's. */
  readonly clock?: Time
  /**
   * Verifies the token of a request and returns its claims. Called if the facts contain no claims. If it throws, or returns anything but an
   * object of claims, the request has no claims.
   */
  readonly claims?: (facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>
  /** Replaces the trusted proxies of the policy: a list, or `trustProxies(list, source)` for another header than x-forwarded-for. */
  readonly trustedProxies?: readonly string[] | TrustedProxies
  /** Called after each decision, store call and charge; default none. Errors that they throw are dropped. */
  readonly observers?: readonly Observer[]
  /**
   * Called once if the policy reads addresses, and a proxy that the trusted proxies do not name seems to forward requests: all its clients
   * count as one. Default: a warning on the console, once in a process. Empty trusted proxies end the search.
   */
  readonly onWarning?: OnWarning
  /**
   * Decides in this process if the store fails and the policy says `local`. Default: for a remote store a memory store of the engine's own;
   * for a store in this process the store itself.
   */
  readonly local?: Store
  /** For policies that keep identifiers as hmac: a keyed hash of a text, such as an HMAC with the secret that the policy names. */
  readonly pseudonym?: Pseudonym
  /** Hashes keys for observers if the policy keeps keys in clear; default a keyed hash of this engine's own. */
  readonly hashKeys?: Pseudonym
  /** Chooses the requests that sampled rules count; default Math.random. */
  readonly random?: Random
}

/** The options, with the defaults filled in. */
export interface EngineParts
  extends
    Surroundings,
    Pick<EngineOptions, 'claims'>,
    Required<Pick<EngineOptions, 'policy' | 'clock' | 'observers' | 'hashKeys' | 'random'>> {
  /** Decides in this process if the store fails and the failure policy is `local`. Undefined: such requests are then refused. */
  readonly local: Store | undefined
  /** Numbers in [0, 1) that nobody outside can guess: for the ids of holders. */
  readonly secret: Random
}

/** `signal` stops waiting for a remote store; `deadlineMs` replaces the policy's deadline. */
export type DecideOptions = WaitOptions

/** Decides requests by a policy, from the facts of each request. */
export interface Engine extends AsyncDisposable, KeyVerbs, KeyOverrides, HoldVerbs, HoldRequests {
  /** The policy of the next decision. */
  readonly policy: Policy
  /** The policy's choice of response headers. */
  readonly headers: HeaderChoice
  /** Charges every enforcing rule that applies, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. */
  decide(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** As `decide`, for a key that the caller already knows. The key counts as the value of the first source in a rule's key. */
  decideKey(request: KeyRequest, options?: DecideOptions): Promise<EngineDecision>
  /**
   * As `decide` and `decideKey`, for several requests in one store call. They are decided in order and independently, by one policy. On
   * misuse it rejects before anything is charged; the message has the index of the wrong request, counted from 0.
   */
  decideMany(requests: readonly (RequestFacts | KeyRequest)[], options?: DecideOptions): Promise<EngineDecision[]>
  /**
   * Reports what `decide` would decide (outcome and retryAfter), and charges nothing. So `remaining` in `limits` is not reduced by the
   * cost.
   */
  peek(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** Reports which rules apply, with keys and limits, and why the other rules do not. Calls no store. */
  explain(facts: RequestFacts): Promise<Explanation>
  /**
   * Overrides the limit of one key of one rule from the next decision on. Fields are named as in the policy file. The override takes
   * precedence over those of the policy file, and stays in force after a reload. The key keeps its remaining tokens, at most as many as the
   * new limit allows.
   * @throws LimiterError INVALID_OPTIONS that names each invalid field, such as an `until` in the past; also if there are too many
   * overrides
   */
  override(fields: OverrideFields): Override
  /** The overrides that were set by `override` and are in force. */
  overrides(): readonly Override[]
  /** Removes an override that was set by `override`; returns whether there was one. */
  withdraw(override: Pick<Override, 'rule' | 'values'>): boolean
  /** Uses another policy from the next decision on. Decisions in flight finish with the policy that they began with. */
  reload(policy: Policy): void
  /**
   * As `reload`, but in two steps, for a large policy. First the policy is loaded in slices of a few milliseconds, so that other work goes
   * on. Then the returned function activates it. Rejects if `reload` would throw.
   * @param options.pseudonym replaces the engine's `pseudonym` as soon as the policy is active
   */
  prepare(policy: Policy, options?: { readonly pseudonym?: Pseudonym | undefined }): Promise<() => void>
  /** Ends the engine: later calls throw a LimiterError `CLOSED`. The store stays open. */
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
  const local = parts.local === undefined ? undefined : createStoreCaller(parts.local, clock)
  const deciders: Deciders = { main, local }
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
  const byFacts = (
    at: Loaded,
    facts: RequestFacts,
    claims: Claims | null | undefined,
    own = context,
    used?: MicroTokens,
  ): ChargedRequest => {
    const cost = used ?? costOf(facts)
    const request = readRequest(facts, claims, at.trust)
    at.watch?.(facts.ip, facts.headers)
    return { request, route: facts.route ?? undefined, ...chargesOf(at, request, own, cost) }
  }
  const byKey = (at: Loaded, request: KeyRequest, own = context, used?: MicroTokens): ChargedRequest => {
    refuseUnknown('engine', request, KEY_REQUEST)
    validKey('engine', request.key)
    return { request: NOBODY, route: undefined, ...chargesOfKey(at, request, own, used ?? costOf(request)) }
  }
  const report = createReport(store.name, observers, parts.hashKeys)
  const decideAll = async (
    at: Loaded,
    requests: readonly ChargedRequest[],
    options: DecideOptions | undefined,
  ): Promise<EngineDecision[]> => {
    const watch: Stopwatch = { started: clock.monotonic(), ended: undefined }
    const made = await decideRequests(deciders, requests, timing(at, options), clock, holds.newHolder, watch)
    const durationMs = (watch.ended ?? clock.monotonic()) - watch.started
    if (report !== undefined)
      for (let index = 0; index < made.length; index += 1) report(at, requests[index] as ChargedRequest, made[index] as Made, durationMs)
    holds.keep(made)
    return made.map(({ decision }) => decision)
  }
  const close = async (): Promise<void> => {
    closed = true
  }
  const timingNow = (options?: DecideOptions): CallOptions => {
    opened()
    return timing(loaded, options)
  }
  const holds = createHolds(deciders, parts.secret, timingNow)
  const keys = keyVerbs(main, () => ({ policy: loaded.policy, context: contextOf(loaded, context) }), timingNow)
  const holdRequests = createHoldRequests({
    deciders,
    clock,
    secret: parts.secret,
    report,
    timing,
    async charged(request, used) {
      const own = used === undefined ? context : { ...context, random: () => 0 }
      requireForm('engine', 'request', request, OBJECT)
      const claims = 'key' in request ? undefined : await claimed(request)
      opened()
      const at = loaded
      return { at, charged: 'key' in request ? byKey(at, request, own, used) : byFacts(at, request, claims, own, used) }
    },
  })
  return {
    ...holdRequests,
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
      const charged = byFacts(at, facts, claims)
      return only(await decideRequests(deciders, [charged], { ...timing(at, options), charge: false }, clock, holds.newHolder)).decision
    },
    release: holds.release,
    async explain(facts) {
      const claims = await claimed(facts)
      const at = loaded
      return explainRules(at.policy, readRequest(facts, claims, at.trust), contextOf(at, context, costOf(facts)))
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

/** The deadline of a decision. One that the policy states is hard; the default may be stretched while the first connection is made. */
function deadlineOf({ failure: { deadlineMs, defaultDeadline } }: Policy, { capabilities }: Store): Deadline {
  if (defaultDeadline !== true) return { ms: deadlineMs }
  return capabilities.deadlineMs === undefined ? { ms: deadlineMs, stretch: true } : { ms: capabilities.deadlineMs }
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
