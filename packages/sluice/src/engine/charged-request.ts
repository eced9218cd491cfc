import type { MicroTokens } from '../algorithms/algorithm.ts'
import { microCost } from '../algorithms/decimal.ts'
import { refuseUnknown } from '../errors/options.ts'
import { type Claims, readRequest, type RequestFacts } from '../identity/request.ts'
import { validKey } from '../keys/encode.ts'
import type { ChargedRequest } from './decide-requests.ts'
import type { KeyRequest } from './key-request.ts'
import { type Loaded, NOBODY } from './loaded.ts'
import { chargesOf, chargesOfKey, type EngineContext } from './request-charges.ts'

const KEY_REQUEST: readonly string[] = ['key', 'limit', 'cost']

/**
 * @param claims absent if the request is passed as a key
 * @param used micro-tokens that replace the request's own cost
 */
export function chargedRequest(
  at: Loaded,
  request: RequestFacts | KeyRequest,
  claims: Claims | undefined,
  context: EngineContext,
  used?: MicroTokens,
): ChargedRequest {
  return 'key' in request ? chargedKey(at, request, context, used) : chargedFacts(at, request, claims, context, used)
}

export function chargedFacts(
  at: Loaded,
  facts: RequestFacts,
  claims: Claims | undefined,
  context: EngineContext,
  used?: MicroTokens,
): ChargedRequest {
  const cost = costOf(facts)
  const request = readRequest(facts, claims, at.trust)
  at.watch?.(facts.ip, facts.headers)
  return { request, route: facts.route ?? undefined, ...chargesOf(at, request, context, used ?? cost) }
}

export function chargedKey(at: Loaded, request: KeyRequest, context: EngineContext, used?: MicroTokens): ChargedRequest {
  refuseUnknown('engine', request, KEY_REQUEST)
  validKey('engine', request.key)
  const cost = costOf(request)
  return { request: NOBODY, route: undefined, ...chargesOfKey(at, request, context, used ?? cost) }
}

export function costOf({ cost }: Pick<KeyRequest, 'cost'>): MicroTokens | undefined {
  return cost === undefined ? undefined : microCost(cost)
}
