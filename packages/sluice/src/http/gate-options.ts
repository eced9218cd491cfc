import type { AnyLimit } from '../algorithms/algorithm.ts'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import type { OnWarning } from '../errors/console-warning.ts'
import {
  ANY,
  checkOptions,
  COUNT,
  FLAG,
  type Form,
  FUNCTION,
  hasMethods,
  HOLD_FORM,
  having,
  requireForm,
  shown,
  TEXT,
  WAIT_MS,
} from '../errors/options.ts'
import type { RequestFacts } from '../identity/request.ts'
import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { HeaderOptions } from '../policy/model/header-choice.ts'

/** The methods that a gate needs of a policy engine. */
export interface Decider {
  /** Decides a request and charges it. */
  decide(facts: RequestFacts): Promise<EngineAnswer>
  /** Called when the response has ended, if the decision has a `hold`: gives back its slots of concurrency limits. */
  release?(decision: EngineAnswer): Promise<void>
  /** As `decide`, but the charge can be corrected by `settle`. Called in place of `decide` with `countWhen` or `actualCost`. */
  reserve?(facts: RequestFacts, options?: { readonly holdMs?: number }): Promise<{ readonly decision: EngineAnswer; readonly id: string }>
  /** Charges what the request really used. Without `actual`, the whole reserved cost stays charged. */
  settle?(facts: RequestFacts, id: string, actual?: number): Promise<unknown>
  /** The policy's choice of response headers. */
  readonly headers?: HeaderOptions
}

/** A decision of an engine. */
export type EngineAnswer = Decision & {
  /** Distinguishes callers, to spread their retries over time. It is not sent. */
  readonly identity: string
  /** Names of the rules that refused the request. */
  readonly violated: readonly string[]
}

/** Options that all adapters share. `Request` and `Response` are the framework's types; for Koa and Hono both are the context. */
export interface GateOptions<Request, Response = unknown> {
  /** From `createLimiter`. Set either `limiter` or `engine`. */
  readonly limiter?: Limiter | undefined
  /** From `createEngine` of `sluice/policy`: decides by the rules of a policy. */
  readonly engine?: Decider | undefined
  /** For a limiter: the caller's identity. Default: the client's address. */
  readonly key?: ((request: Request) => string | Promise<string>) | undefined
  /**
   * For a limiter with one limit: the limit of this request, for example by the caller's plan. It must have the same algorithm. A key whose
   * limit changes keeps what it has used.
   */
  readonly limit?: ((request: Request) => AnyLimit | Promise<AnyLimit>) | undefined
  /** Tokens that a request takes, instead of 1 or of the rules' cost. If a function returns undefined, the request fails with an error. */
  readonly cost?: number | ((request: Request) => number | Promise<number>) | undefined
  /** `true` exempts the request, `false` and undefined do not. Any other value is an error, and the request does not pass. */
  readonly skip?: ((request: Request) => boolean | undefined | Promise<boolean | undefined>) | undefined
  /** Which header fields report the limits. Default: the policy's choice, or draft-11 without one. */
  readonly headers?: HeaderOptions | undefined
  /**
   * `false`: Retry-After is the exact wait. Default: a part that depends on the client is added, so that clients do not return together.
   */
  readonly retryAfterJitter?: boolean | undefined
  /**
   * For a limiter without `key`: how many leading bits of an IPv6 address identify a client, 32 to 128. Default 64: most clients own
   * a /64 network or a larger one, so a higher number gives them many keys.
   */
  readonly ipv6Prefix?: number | undefined
  /** With `onDenied: 'wait'`: the longest wait in milliseconds; default 10,000. A request that would wait longer is denied at once. */
  readonly maxWaitMs?: number | undefined
  /** With `onDenied: 'wait'`: how many requests may wait at once; default 1,000. Further requests are decided without a wait. */
  readonly maxWaiting?: number | undefined
  /**
   * Which responses count: `success` (a status below 400), `failure` (the others), or those for which a function returns true. The cost is
   * charged before the handler runs, and given back if the response does not count. If the function fails or returns no boolean, the cost
   * stays charged.
   */
  readonly countWhen?: 'success' | 'failure' | ((response: Response, request: Request) => boolean | Promise<boolean>) | undefined
  /**
   * Tokens that a request has used: at least 0, at most six decimals. Called when the handler has ended its response. Before that, `cost`
   * is charged as an estimate, which stays charged if this function returns undefined or fails.
   */
  readonly actualCost?: ((response: Response, request: Request) => number | undefined | Promise<number | undefined>) | undefined
  /**
   * With `countWhen` or `actualCost`: milliseconds after which the charge is final; at most a day, default 60,000. Choose more than your
   * longest response takes.
   */
  readonly holdMs?: number | undefined
  /** For a limiter without `key`: networks whose forwarding header is trusted; default none. */
  readonly trustedProxies?: readonly string[] | TrustedProxies | undefined
  /**
   * For a limiter without `key`: called once if a proxy that `trustedProxies` does not name seems to forward requests, unless
   * `trustedProxies` is `[]`. Also called whenever `countWhen` or `actualCost` fails. Default: the first of each goes to the console.
   */
  readonly onWarning?: OnWarning | undefined
}

/** Where clients' addresses come from: the connection (`socket`), or the option `address`, because requests contain none (`option`). */
export type Peers = 'socket' | 'option'

export const FORMS: Readonly<Record<keyof GateOptions<unknown> | 'onDenied', Form>> = {
  limiter: having('what createLimiter gave', 'check'),
  engine: having('what createEngine gave', 'decide'),
  key: FUNCTION,
  limit: [(value) => typeof value === 'function', 'a function of the request; a limit for all requests belongs to createLimiter'],
  cost: ANY,
  skip: FUNCTION,
  headers: ANY,
  retryAfterJitter: FLAG,
  ipv6Prefix: [(value) => Number.isInteger(value) && (value as number) >= 32 && (value as number) <= 128, 'a whole number from 32 to 128'],
  onDenied: [(value) => typeof value === 'function' || value === 'wait', "a function, or 'wait'"],
  maxWaitMs: WAIT_MS,
  maxWaiting: COUNT,
  countWhen: [
    (value) => value === 'success' || value === 'failure' || typeof value === 'function',
    "'success', 'failure', or a function of the response",
  ],
  actualCost: FUNCTION,
  holdMs: HOLD_FORM,
  trustedProxies: ANY,
  onWarning: FUNCTION,
}
const FORMS_WITH_ADDRESS: Readonly<Record<string, Form>> = { ...FORMS, address: FUNCTION }

/** @throws LimiterError INVALID_OPTIONS or INVALID_COST */
export function checkGateOptions<Request, Response>(options: GateOptions<Request, Response>, peers: Peers): void {
  checkOptions('rateLimit', options, peers === 'socket' ? FORMS : FORMS_WITH_ADDRESS)
  const { limiter, engine, cost } = options
  const waits = isWaiting(options)
  if ((limiter === undefined) === (engine === undefined)) throw refused('give either limiter or engine')
  if (cost !== undefined && typeof cost !== 'function' && !(typeof cost === 'number' && cost > 0 && cost < Infinity))
    throw new LimiterError('INVALID_COST', `rateLimit: cost is ${shown(cost)}, expected a number above 0 or a function`)
  const { address } = options as { readonly address?: unknown }
  if (peers === 'option' && address === undefined && options.key === undefined)
    throw refused("a request has no address here; give address, the platform's, or for a limiter key")
  if (limiter !== undefined) checkLimiterOptions(limiter, options)
  if (waits && engine !== undefined) throw refused("onDenied: 'wait' is for a limiter; an engine decides at once")
  if (waits) requireForm('rateLimit', 'limiter', limiter, having("what createLimiter gave, with onDenied: 'wait'", 'wait'))
  for (const name of ['maxWaitMs', 'maxWaiting'] as const)
    if (!waits && options[name] !== undefined) throw refused(`${name} is for onDenied: 'wait'; without it no request waits`)
  checkCounting(options, waits)
  for (const [name, theirs] of FOR_LIMITERS)
    if (engine !== undefined && options[name] !== undefined && !(name === 'onWarning' && isCounting(options)))
      throw refused(`${name} is for a limiter; an engine ${theirs}`)
}

export function isCounting({ countWhen, actualCost }: { readonly countWhen?: unknown; readonly actualCost?: unknown }): boolean {
  return countWhen !== undefined || actualCost !== undefined
}

function checkCounting<Request, Response>(options: GateOptions<Request, Response>, waits: boolean): void {
  const { limiter, engine, countWhen, holdMs } = options
  if (!isCounting(options)) {
    if (holdMs !== undefined) throw refused('holdMs is for countWhen or actualCost; without them nothing is held')
    return
  }
  const name = countWhen === undefined ? 'actualCost' : 'countWhen'
  if (waits) throw refused(`${name} needs a reservation, which cannot wait; leave out onDenied: 'wait'`)
  if (limiter !== undefined) requireForm('rateLimit', 'limiter', limiter, having(`what createLimiter gave, with ${name}`, 'reserve'))
  else requireForm('rateLimit', 'engine', engine, having(`an engine that reserves, with ${name}`, 'reserve', 'settle'))
}

export function isWaiting(options: object): boolean {
  return (options as { readonly onDenied?: unknown }).onDenied === 'wait'
}

const FOR_LIMITERS: readonly (readonly [keyof GateOptions<unknown>, string])[] = [
  ['key', 'takes the keys of its rules'],
  ['limit', 'takes the limits of its rules'],
  ['ipv6Prefix', 'takes the keys of its rules, such as ip:/56'],
  ['trustedProxies', 'has those of its policy'],
  ['onWarning', 'has one of its own'],
]

function checkLimiterOptions<Request, Response>(limiter: Limiter, options: GateOptions<Request, Response>): void {
  const { key, limit } = options
  for (const name of ['ipv6Prefix', 'trustedProxies', 'onWarning'] as const)
    if (key !== undefined && options[name] !== undefined && !(name === 'onWarning' && isCounting(options)))
      throw refused(`${name} is for keys by address; with key it has no effect`)
  if (limit === undefined) return
  requireForm('rateLimit', 'limiter', limiter, having('what createLimiter gave, with the option limit', 'withLimit'))
  const names = Object.keys(limiter.limits)
  if (names.length !== 1) throw refused(`limit is for a limiter with one limit; this one has ${names.join(', ')}`)
}

export function requireHandler(where: string, handler: unknown): void {
  requireForm(where, 'handler', handler, FUNCTION)
}

const RESPONSE: Form = [
  (value) => hasMethods((value as { readonly headers?: unknown } | null | undefined)?.headers, 'get', 'set'),
  'a Response',
]

export function requireResponse(what: string, response: unknown): void {
  requireForm('rateLimit', what, response, RESPONSE)
}

/**
 * Null counts as absent.
 * @throws LimiterError INVALID_OPTIONS for anything but a text: with promises, all requests would share one key
 */
export function requireAddress(address: string | null | undefined): string | undefined {
  if (address === undefined || address === null) return undefined
  requireForm('rateLimit', 'what address returned', address, TEXT)
  return address
}

function refused(why: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `rateLimit: ${why}`)
}
