/// <reference lib="esnext.disposable" preserve="true" />
import type { OnWarning } from '../errors/console-warning.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, type Complete, type Form, FUNCTION, refuseUnknown } from '../errors/options.ts'
import type { Claims, RequestFacts } from '../identity/request.ts'
import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import { createStoreCaller } from '../limiter/call-store.ts'
import type { Deciders } from '../limiter/on-failure.ts'
import { type Deadline, timingOf, WAIT, type WaitOptions } from '../limiter/timing.ts'
import type { Observer } from '../observe/events.ts'
import type { HeaderChoice } from '../policy/model/header-choice.ts'
import type { Policy } from '../policy/model/policy.ts'
import { finish, inSlices } from '../policy/model/sliced.ts'
import type { CallOptions, Store } from '../stores/store.ts'
import type { Random, Time } from '../time/time.ts'
import { type DecideVerbs, decideVerbs } from './decide-verbs.ts'
import { createHoldRequests, type HoldRequests } from './hold-requests.ts'
import type { OverrideFields } from '../policy/override-value.ts'
import type { Override } from '../policy/model/rule.ts'
import { createHolds, type HoldVerbs } from './holds.ts'
import { type KeyOverrides, overrideVerbs } from './key-overrides.ts'
import { type KeyVerbs, keyVerbs } from './keys.ts'
import { load, type Loaded, type Pseudonym, type Surroundings } from './loaded.ts'
import { OverrideTable } from './overrides.ts'
import { createReport } from './report.ts'
import { contextOf, type EngineContext } from './request-charges.ts'
import type { VerbParts } from './verb-parts.ts'

export type { KeyRequest } from './key-request.ts'

/** Options of `createEngine`. */
export interface EngineOptions {
  /** What `parsePolicy` returns. */
  readonly policy: Policy
  /** Stays open when the engine is closed. */
  readonly store: Store
  /** For the default `local`, decisions without a store, deadlines and ends of overrides; default the system's. */
  readonly clock?: Time | undefined
  /**
   * Verifies a request's token and returns its claims. Called if the facts have none. If it throws or returns no object, the request has no
   * claims.
   */
  readonly claims?: ((facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>) | undefined
  /** Replaces the policy's trusted proxies; `trustProxies(list, source)` names another header than x-forwarded-for. */
  readonly trustedProxies?: readonly string[] | TrustedProxies | undefined
  /** Called after decisions, store calls and charges; errors are dropped. */
  readonly observers?: readonly Observer[] | undefined
  /**
   * Called once if the policy reads addresses and an untrusted proxy seems to forward requests: all its clients then count as one. Default:
   * a console warning, once in a process. Never called if `trustedProxies` is empty.
   */
  readonly onWarning?: OnWarning | undefined
  /** Decides if the store fails and the policy says `local`. Default for a remote store: a memory store; otherwise the store itself. */
  readonly local?: Store | undefined
  /** The hash for policies whose keys contain hashes of identifiers (`hmac`), such as an HMAC. */
  readonly pseudonym?: Pseudonym | undefined
  /** Hashes keys for observers if the policy does not; default a keyed hash. */
  readonly hashKeys?: Pseudonym | undefined
  /** Chooses the requests that sampled rules count; default Math.random. */
  readonly random?: Random | undefined
}

export interface EngineParts
  extends
    Surroundings,
    Pick<EngineOptions, 'claims'>,
    Complete<Pick<EngineOptions, 'policy' | 'clock' | 'observers' | 'hashKeys' | 'random'>> {
  /** Undefined: requests under the failure policy `local` are refused. */
  readonly local: Store | undefined
  /** Unpredictable numbers in [0, 1), to make ids. */
  readonly secret: Random
}

/** Decides requests by a policy, from the facts of each request. */
export interface Engine extends AsyncDisposable, DecideVerbs, KeyVerbs, KeyOverrides, HoldVerbs, HoldRequests {
  /** The policy of the next decision. */
  readonly policy: Policy
  /** The policy's choice of response headers. */
  readonly headers: HeaderChoice
  /**
   * Overrides the limit of one key of a rule from the next decision on, also after a reload. The override takes precedence over the policy
   * file. The key keeps its remaining tokens, up to the new limit. `maxOvergrant` and `boundOf` do not take these overrides into account.
   * @throws LimiterError INVALID_OPTIONS for invalid fields, such as an `until` in the past, and for too many overrides
   */
  override(fields: OverrideFields): Override
  /** Overrides in force that were set by `override`. */
  overrides(): readonly Override[]
  /** Removes what `override` set; returns whether there was an override. */
  withdraw(override: Pick<Override, 'rule' | 'values'>): boolean
  /** Uses another policy from the next decision on. Decisions in flight finish with theirs. */
  reload(policy: Policy): void
  /**
   * As `reload`, but works in slices of 2 ms, so the thread stays free for other events. The returned function activates the policy.
   * Rejects if `reload` would throw.
   * @param options.pseudonym replaces the engine's `pseudonym` when the policy is activated
   */
  prepare(policy: Policy, options?: { readonly pseudonym?: Pseudonym | undefined }): Promise<() => void>
  /** Later calls that need the store throw a LimiterError `CLOSED`. The store stays open. */
  close(): Promise<void>
}

const SLICE_MS = 2

const PREPARE: Readonly<Record<string, Form>> = { pseudonym: FUNCTION }

export function buildEngine(parts: EngineParts): Engine {
  const { store, clock, observers, random, secret, claims: verify } = parts
  const main = createStoreCaller(store, clock, observers)
  const local = parts.local === undefined ? undefined : createStoreCaller(parts.local, clock)
  const deciders: Deciders = { main, local }
  const { sync } = store.capabilities
  let current = finish(load(parts.policy, parts))
  let closed = false
  const live = new OverrideTable()
  const context: EngineContext = { live, now: () => clock.now(), random }

  const loaded = (): Loaded => current
  const opened = (): void => {
    if (closed) throw new LimiterError('CLOSED', 'the engine is closed')
  }
  const timing = ({ policy }: Loaded, options?: WaitOptions): CallOptions => {
    if (options !== undefined) refuseUnknown('engine', options, WAIT)
    return timingOf('engine', clock, sync ? undefined : deadlineOf(policy, store), options)
  }
  const timingNow = (options?: WaitOptions): CallOptions => {
    opened()
    return timing(current, options)
  }
  const report = createReport(store.name, observers, parts.hashKeys)
  const holds = createHolds(deciders, secret, timingNow)
  const verbs: VerbParts = { deciders, clock, context, verify, report, opened, loaded, timing }
  const close = async (): Promise<void> => {
    closed = true
  }
  return {
    ...decideVerbs(verbs, holds),
    ...createHoldRequests(verbs, secret),
    ...keyVerbs(main, () => ({ policy: current.policy, context: contextOf(current, context) }), timingNow),
    ...overrideVerbs(loaded, live, context.now),
    release: holds.release,
    get policy() {
      return current.policy
    },
    get headers() {
      return current.policy.headers
    },
    reload(policy) {
      current = finish(load(policy, parts))
    },
    async prepare(policy, options = {}) {
      checkOptions('engine', options, PREPARE)
      const { pseudonym = parts.pseudonym } = options
      const ready = await inSlices(load(policy, { ...parts, pseudonym }), clock, SLICE_MS)
      return () => void (current = ready)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A deadline of the policy is never extended. The default may be, while the first connection is made. */
function deadlineOf({ failure: { deadlineMs, defaultDeadline } }: Policy, { capabilities }: Store): Deadline {
  if (defaultDeadline !== true) return { ms: deadlineMs }
  return capabilities.deadlineMs === undefined ? { ms: deadlineMs, stretch: true } : { ms: capabilities.deadlineMs }
}
