import { LimiterError } from '../errors/limiter-error.ts'
import { LIST, OBJECT, requireForm } from '../errors/options.ts'
import { type Claims, readRequest, type RequestFacts } from '../identity/request.ts'
import type { WaitOptions } from '../limiter/timing.ts'
import type { Stopwatch } from '../time/time.ts'
import { chargedFacts, chargedKey, chargedRequest, costOf } from './charged-request.ts'
import { claimsOf } from './claims-of.ts'
import { type ChargedRequest, decideRequests, type Made } from './decide-requests.ts'
import type { EngineDecision } from './engine-decision.ts'
import { explainRules, type Explanation } from './explain.ts'
import type { Holds } from './holds.ts'
import type { KeyRequest } from './key-request.ts'
import type { Loaded } from './loaded.ts'
import { contextOf } from './request-charges.ts'
import type { VerbParts } from './verb-parts.ts'

/** `signal` stops waiting for a remote store; `deadlineMs` replaces the policy's deadline. */
export type DecideOptions = WaitOptions

/** Methods of an engine that decide requests by the policy. */
export interface DecideVerbs {
  /** Charges every enforcing rule that applies, all or nothing. Rejects only on misuse (a LimiterError), never because the store fails. */
  decide(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** As `decide`, for a key that the caller knows. The key counts as the value of each rule's first source, such as a header. */
  decideKey(request: KeyRequest, options?: DecideOptions): Promise<EngineDecision>
  /**
   * As `decide` and `decideKey`, in order and independently, in one store call. On misuse it rejects before anything is charged; the
   * message has the request's index, from 0.
   */
  decideMany(requests: readonly (RequestFacts | KeyRequest)[], options?: DecideOptions): Promise<EngineDecision[]>
  /** What `decide` would decide. Charges nothing, so `remaining` in `limits` is not reduced. */
  peek(facts: RequestFacts, options?: DecideOptions): Promise<EngineDecision>
  /** Which rules apply, and why others do not. Calls no store. */
  explain(facts: RequestFacts): Promise<Explanation>
}

/** @param holds remembers the slots of each decision, for `release` */
export function decideVerbs({ deciders, clock, context, verify, report, opened, loaded, timing }: VerbParts, holds: Holds): DecideVerbs {
  const claimed = async (facts: RequestFacts): Promise<Claims | undefined> => {
    opened()
    requireForm('engine', 'facts', facts, OBJECT)
    return claimsOf(verify, facts)
  }
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
  return {
    async decide(facts, options) {
      const claims = await claimed(facts)
      const at = loaded()
      return only(await decideAll(at, [chargedFacts(at, facts, claims, context)], options))
    },
    async decideKey(request, options) {
      opened()
      const at = loaded()
      return only(await decideAll(at, [chargedKey(at, request, context)], options))
    },
    async decideMany(requests, options) {
      opened()
      requireForm('engine', 'requests', requests, LIST)
      requests.forEach((request, index) => requireForm('engine', `request ${index}`, request, OBJECT))
      const claims = await Promise.all(requests.map((request) => claimsOf(verify, request)))
      const at = loaded()
      const charged = requests.map((request, index) => named(index, () => chargedRequest(at, request, claims[index], context)))
      return decideAll(at, charged, options)
    },
    async peek(facts, options) {
      const claims = await claimed(facts)
      const at = loaded()
      const charged = chargedFacts(at, facts, claims, context)
      return only(await decideRequests(deciders, [charged], { ...timing(at, options), charge: false }, clock, holds.newHolder)).decision
    },
    async explain(facts) {
      const claims = await claimed(facts)
      const at = loaded()
      return explainRules(at.policy, readRequest(facts, claims, at.trust), contextOf(at, context, costOf(facts)))
    },
  }
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
