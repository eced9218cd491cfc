import { buildEngine, type Engine } from './engine/engine.ts'
import type { Pseudonym } from './engine/loaded.ts'
import { ANY, checkOptions, CLOCK, type Form, FUNCTION, OBJECT, OBSERVERS, requireForm, STORE } from './errors/options.ts'
import type { Claims, RequestFacts } from './identity/request.ts'
import { readTrustedProxies, type TrustedProxies } from './identity/trusted-proxies.ts'
import type { Observer } from './observe/events.ts'
import type { Policy } from './policy/model/policy.ts'
import { hashKeys } from './hash-keys.ts'
import { localFallback } from './local-fallback.ts'
import type { Store } from './stores/store.ts'
import { systemRandom, systemTime } from './time/system.ts'
import type { Random, Time } from './time/time.ts'

export interface EngineOptions {
  readonly policy: Policy
  /** It stays open when the engine is closed. */
  readonly store: Store
  readonly clock?: Time
  /** Verifies the token of a request and returns its claims, if the facts contain none. If it throws, there are no claims. */
  readonly claims?: (facts: RequestFacts) => Claims | undefined | Promise<Claims | undefined>
  /** Replaces the policy's: a list, or `trustProxies(list, source)` for another header than x-forwarded-for. */
  readonly trustedProxies?: readonly string[] | TrustedProxies
  readonly observers?: readonly Observer[]
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

const FORMS: Readonly<Record<string, Form>> = {
  policy: OBJECT,
  store: STORE,
  clock: CLOCK,
  claims: FUNCTION,
  trustedProxies: ANY,
  observers: OBSERVERS,
  local: STORE,
  pseudonym: FUNCTION,
  hashKeys: FUNCTION,
  random: FUNCTION,
}

/**
 * Creates an engine that decides by a policy over one store. If the store fails, each group of rules gets the policy's answer to failures.
 * @throws LimiterError INVALID_OPTIONS for an unknown option, a missing policy or store, a rule above its `maxOvergrant` on this store, or
 * a policy that requires pseudonyms without `pseudonym`
 * @throws LimiterError NOT_SUPPORTED for a rule of an algorithm that the store does not decide; INVALID_ADDRESS for an invalid proxy
 */
export function createEngine(options: EngineOptions): Engine {
  checkOptions('createEngine', options, FORMS)
  requireForm('createEngine', 'store', options.store, STORE)
  const { policy, store, clock = systemTime, observers = [], claims, pseudonym, random = systemRandom } = options
  const names = options.hashKeys ?? hashKeys()
  const local = options.local === store ? undefined : (options.local ?? localFallback(store, clock))
  const trustedProxies = trustOf(options.trustedProxies)
  // A local fallback for a remote store grants the limit once more.
  const storeKind = local === undefined ? 'process' : 'shared'
  return buildEngine({ policy, store, local, clock, observers, claims, trustedProxies, pseudonym, hashKeys: names, random, storeKind })
}

function trustOf(proxies: EngineOptions['trustedProxies']): TrustedProxies | undefined {
  return proxies === undefined ? undefined : readTrustedProxies('createEngine', proxies)
}
