import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { ANY, checkOptions, type Form, FUNCTION, requireForm, shown } from '../errors/options.ts'
import type { RequestFacts } from '../identity/request.ts'
import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { HeaderOptions } from '../policy/model/header-choice.ts'

/** The part of a policy engine that a gate uses. */
export interface Decider {
  decide(facts: RequestFacts): Promise<EngineAnswer>
  /** The policy's choice of response headers. */
  readonly headers?: HeaderOptions
}

export type EngineAnswer = Decision & { readonly identity: string; readonly violated: readonly string[] }

/** Options that all adapters share; `Request` is the framework's. Pass either `limiter` or `engine`. */
export interface GateOptions<Request> {
  readonly limiter?: Limiter
  readonly engine?: Decider
  /** The caller's identity, for a limiter; default: the client's address, IPv6 by /64. An engine uses the keys of its rules. */
  readonly key?: (request: Request) => string | Promise<string>
  /** Tokens that a request takes, instead of 1 or of the rules' cost. */
  readonly cost?: number | ((request: Request) => number | Promise<number>)
  /** Exempts requests from the limit: `true` skips, `false` and undefined do not. Any other value counts as a thrown error. */
  readonly skip?: (request: Request) => boolean | undefined | Promise<boolean | undefined>
  /** Default: the policy's choice, otherwise draft-11. */
  readonly headers?: HeaderOptions
  /** Networks whose forwarding header is trusted, for a limiter; default none. An engine uses the policy's. */
  readonly trustedProxies?: readonly string[] | TrustedProxies
}

/** Where addresses come from. `option`: requests have none, so the option `address` or a key is required. */
export type Peers = 'socket' | 'option'

const has = (value: unknown, method: string): boolean => FUNCTION[0]((value as Readonly<Record<string, unknown>> | null)?.[method])
const FORMS: Readonly<Record<string, Form>> = {
  limiter: [(value) => has(value, 'check'), 'what createLimiter gave'],
  engine: [(value) => has(value, 'decide'), 'what createEngine gave'],
  key: FUNCTION,
  cost: ANY,
  skip: FUNCTION,
  headers: ANY,
  onDenied: FUNCTION,
  trustedProxies: ANY,
}
const FORMS_WITH_ADDRESS: Readonly<Record<string, Form>> = { ...FORMS, address: FUNCTION }

/** @throws LimiterError INVALID_OPTIONS or INVALID_COST for an option that is unknown, of the wrong kind, or without effect */
export function checkGateOptions<Request>(options: GateOptions<Request>, peers: Peers): void {
  checkOptions('rateLimit', options, peers === 'socket' ? FORMS : FORMS_WITH_ADDRESS)
  const { limiter, engine, cost } = options
  if ((limiter === undefined) === (engine === undefined)) throw refused('give either limiter or engine')
  if (cost !== undefined && typeof cost !== 'function' && !(typeof cost === 'number' && cost > 0 && cost < Infinity))
    throw new LimiterError('INVALID_COST', `rateLimit: cost is ${shown(cost)}, expected a number above 0 or a function`)
  if (peers === 'option' && (options as { readonly address?: unknown }).address === undefined && options.key === undefined)
    throw refused("a request has no address here; give address, the platform's, or for a limiter key")
  if (engine === undefined) return
  if (options.key !== undefined) throw refused('key is for a limiter; an engine takes the keys of its rules')
  if (options.trustedProxies !== undefined) throw refused('trustedProxies is for a limiter; an engine has those of its policy')
}

/** @throws LimiterError INVALID_OPTIONS if the handler is not a function: it would fail at the first request */
export function requireHandler(where: string, handler: unknown): void {
  requireForm(where, 'handler', handler, FUNCTION)
}

function refused(why: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `rateLimit: ${why}`)
}
