/// <reference lib="esnext.disposable" preserve="true" />
import { microCost } from '../algorithms/decimal.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { type Claims, readRequest, type Request, type RequestFacts } from '../identity/request.ts'
import { validKey } from '../keys/encode.ts'
import { askStore, type Patience, timingOf } from '../limiter/ask.ts'
import { notify, type Observer } from '../observe/events.ts'
import type { HeaderChoice } from '../policy/header-choice.ts'
import type { Override } from '../policy/override.ts'
import { overrideFrom, type OverrideFields } from '../policy/override-value.ts'
import type { Policy } from '../policy/policy.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import { NOBODY } from './by-key.ts'
import { enforcing, groupOf, RULE_SET } from './charges.ts'
import { type Charging, chargingOf, chargingOfKey, type Present, termsOf } from './charging.ts'
import { type EngineDecision, engineDecision, resultsOf } from './engine-decision.ts'
import { type Explanation, explainRules } from './explain.ts'
import { load, type Loaded, type Surroundings } from './loaded.ts'
import { liveOverrides } from './overrides.ts'

export interface EngineParts extends Surroundings {
  readonly policy: Policy
  /** Stands in for itself where it fails (`withFallback`); it stays open when the engine is closed. */
  readonly store: Store
  readonly clock: Time
  /** Verifies the token of a request and gives its claims, where the facts bring none. One that throws gives none. */
  readonly claims?: ((facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>) | undefined
  readonly observers: readonly Observer[]
  /** Chooses the requests that sampled rules count. */
  readonly random: Random
}

/** `signal` gives up waiting for a remote store; `deadlineMs` stands instead of the policy's. */
export type DecideOptions = Patience

export interface KeyQuestion {
  readonly key: string
  /** Name of one rule; default: every rule that asks nothing of a request's path, method and host. */
  readonly limit?: string
  /** Default: what the rule charges a request of which nothing is known. */
  readonly cost?: number
}

/** A policy at work: it decides about requests by their facts. */
export interface Engine extends AsyncDisposable {
  readonly policy: Policy
  /** What the policy says about headers. */
  readonly headers: HeaderChoice
  /** Charges every enforcing rule that applies, all or none. Rejects only for misuse (a LimiterError), never for a failing store. */
  decide(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** As `decide`, for a key that the caller already knows; it stands for the first value of a rule's key. */
  decideKey(question: KeyQuestion, options?: DecideOptions): Promise<EngineDecision>
  /** What `decide` would answer, charging nothing. */
  peek(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** Which rules apply, with keys and limits, and why the others do not; asks no store. */
  explain(facts: RequestFacts): Promise<Explanation>
  /**
   * Another limit for one key of one rule from the next decision on, in the words of the policy file; it goes before those of the file and
   * outlives a reload. What the key has left is kept, cut to the new limit.
   * @throws LimiterError INVALID_OPTIONS naming each field that is wrong
   */
  override(fields: OverrideFields): Override
  /** The overrides that were set here and still hold. */
  overrides(): readonly Override[]
  /** Takes back an override that was set here; says whether there was one. */
  withdraw(override: Pick<Override, 'rule' | 'values'>): boolean
  /** Uses another policy from the next decision on; decisions under way end by the one they began with. */
  reload(policy: Policy): void
  close(): Promise<void>
}

/** Builds an engine from its parts; `createEngine` is the door that fills in the defaults. */
export function buildEngine(parts: EngineParts): Engine {
  const { store, clock, observers, random } = parts
  let loaded = load(parts.policy, parts)
  let closed = false
  const live = liveOverrides()
  const present: Present = { live: live.index, now: () => clock.now(), random }

  const timing = ({ policy }: Loaded, patience?: DecideOptions): CallOptions =>
    timingOf('engine', store, clock, policy.failure.deadlineMs, patience)
  const requestOf = async (facts: RequestFacts): Promise<{ at: Loaded; request: Request; cost: number | undefined }> => {
    if (closed) throw new LimiterError('CLOSED', 'the engine is closed')
    const cost = facts.cost === undefined ? undefined : microCost(facts.cost)
    const claims = facts.claims ?? (await claimsOf(parts.claims, facts))
    const at = loaded
    return { at, request: readRequest(facts, claims, at.trust), cost }
  }
  const ask = async (
    verb: 'consume' | 'peek',
    at: Loaded,
    charging: Charging,
    request: Request,
    callOptions?: DecideOptions,
  ): Promise<EngineDecision> => {
    const { charges } = charging
    const enforced = enforcing(charges)
    const shadows = charges.filter(({ rule }) => rule.mode === 'shadow')
    const groups = [...(enforced.length === 0 ? [] : [groupOf(enforced)]), ...shadows.map((charge) => groupOf([charge]))]
    const verdicts = groups.length === 0 ? [] : await askStore(store, verb, groups, timing(at, callOptions))
    const [verdict, shadowVerdicts] = enforced.length === 0 ? [undefined, verdicts] : [verdicts[0], verdicts.slice(1)]
    return engineDecision({ ...charging, enforcing: enforced, shadows, verdict, shadowVerdicts }, request, clock)
  }
  const observed = async (route: string | undefined, run: () => Promise<EngineDecision>): Promise<EngineDecision> => {
    const started = clock.monotonic()
    const decision = await run()
    const durationMs = clock.monotonic() - started
    notify(observers, {
      limiter: RULE_SET,
      store: store.name ?? 'store',
      ...(route === undefined ? {} : { route }),
      decision,
      results: resultsOf(decision),
      durationMs,
    })
    return decision
  }
  const close = async (): Promise<void> => {
    closed = true
  }
  return {
    get policy() {
      return loaded.policy
    },
    get headers() {
      return loaded.policy.headers
    },
    async decide(facts, callOptions) {
      const { at, request, cost } = await requestOf(facts)
      return observed(facts.route, () => ask('consume', at, chargingOf(at, request, cost, present), request, callOptions))
    },
    async decideKey({ key, limit, cost }, callOptions) {
      if (closed) throw new LimiterError('CLOSED', 'the engine is closed')
      validKey('engine', key)
      const at = loaded
      const charged = cost === undefined ? undefined : microCost(cost)
      const charging = chargingOfKey(at, key, limit, charged, present)
      return observed(undefined, () => ask('consume', at, charging, NOBODY, callOptions))
    },
    async peek(facts, callOptions) {
      const { at, request, cost } = await requestOf(facts)
      return ask('peek', at, chargingOf(at, request, cost, present), request, callOptions)
    },
    async explain(facts) {
      const { at, request, cost } = await requestOf(facts)
      return explainRules(at.policy, request, cost, termsOf(at, present))
    },
    reload(policy) {
      loaded = load(policy, parts)
    },
    override(fields) {
      const override = overrideFrom(fields, loaded.policy.rules)
      live.set(override, clock.now())
      return override
    },
    overrides() {
      const now = clock.now()
      return live.list(now)
    },
    withdraw({ rule, values }) {
      return live.remove(rule, values)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What cannot be verified is not believed, whatever went wrong. */
async function claimsOf(claims: EngineParts['claims'], facts: RequestFacts): Promise<Claims | undefined> {
  try {
    return await claims?.(facts)
  } catch {
    return undefined
  }
}
