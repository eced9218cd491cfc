import { buildEngine, type Engine, type EngineOptions } from './engine/engine.ts'
import { firstOnly } from './errors/console-warning.ts'
import { ANY, checkOptions, CLOCK, type Form, FUNCTION, OBJECT, OBSERVERS, requireForm, STORE } from './errors/options.ts'
import { readTrustedProxies } from './identity/trusted-proxies.ts'
import { hashKeys } from './hash-keys.ts'
import { localFallback } from './local-fallback.ts'
import { systemRandom, systemSecret, systemTime } from './time/system.ts'

const FORMS: Readonly<Record<string, Form>> = {
  policy: OBJECT,
  store: STORE,
  clock: CLOCK,
  claims: FUNCTION,
  trustedProxies: ANY,
  observers: OBSERVERS,
  onWarning: FUNCTION,
  local: STORE,
  pseudonym: FUNCTION,
  hashKeys: FUNCTION,
  random: FUNCTION,
}

/**
 * Creates an engine that decides by a policy with one store. If the store fails, `onStoreFailure` of the rules decides.
 * @throws LimiterError INVALID_OPTIONS, also for a rule that could grant more than its `maxOvergrant` on this store, and for a policy that
 * requires pseudonyms if `pseudonym` is missing; NOT_SUPPORTED for an algorithm that the store does not decide; INVALID_ADDRESS for an
 * invalid proxy
 */
export function createEngine(options: EngineOptions): Engine {
  checkOptions('createEngine', options, FORMS)
  requireForm('createEngine', 'store', options.store, STORE)
  const { store, clock = systemTime, observers = [], trustedProxies: proxies, random = systemRandom } = options
  const local = options.local === store ? undefined : (options.local ?? localFallback(store, clock))
  return buildEngine({
    ...options,
    local,
    clock,
    observers,
    // A reload of the policy would repeat the warnings.
    onWarning: options.onWarning === undefined ? undefined : firstOnly(options.onWarning),
    trustedProxies: proxies === undefined ? undefined : readTrustedProxies('createEngine', proxies),
    hashKeys: options.hashKeys ?? hashKeys(),
    random,
    secret: systemSecret,
    // 'shared' makes `maxOvergrant` of the rules count what the local fallback of each process grants beyond the limits.
    storeKind: local === undefined ? 'process' : 'shared',
  })
}
