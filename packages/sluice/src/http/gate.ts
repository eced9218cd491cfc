import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import { groupAddress } from '../identity/address.ts'
import { clientAddress } from '../identity/client-address.ts'
import { normalizePath } from '../identity/path.ts'
import type { RequestFacts } from '../identity/request.ts'
import { trustProxies } from '../identity/trusted-proxies.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { type HeaderList, type HeaderOptions, headersOf } from './headers.ts'
import { type Problem, problemOf } from './problem.ts'

/** A policy engine, as far as a gate needs it. */
export interface Decider {
  decide(facts: RequestFacts): Promise<EngineAnswer>
  /** What the policy says about headers. */
  readonly headers?: HeaderOptions
}

export type EngineAnswer = Decision & { readonly identity: string; readonly violated: readonly string[] }

/** Options every adapter shares; `Request` is the framework's. Give either `limiter` or `engine`. */
export interface GateOptions<Request> {
  readonly limiter?: Limiter
  readonly engine?: Decider
  /** Who is asking, for a limiter; default: the client's address, IPv6 by /64. */
  readonly key?: (request: Request) => string | Promise<string>
  readonly cost?: number | ((request: Request) => number | Promise<number>)
  /** Requests that are not limited at all. */
  readonly skip?: (request: Request) => boolean | Promise<boolean>
  readonly headers?: HeaderOptions
  /** Networks whose X-Forwarded-For is believed, for a limiter; default none. An engine has its own from the policy. */
  readonly trustedProxies?: readonly string[]
}

/** What to do with a request: let it pass or answer it, and which headers to send either way. */
export interface GateAnswer {
  readonly passed: boolean
  readonly headers: HeaderList
  readonly decision?: Decision
  /** Where it did not pass: the answer. */
  readonly problem?: Problem
}

/** Decides about requests of any framework. */
export type Gate<Request> = (request: Request, facts: RequestFacts) => Promise<GateAnswer>

const KNOWN = ['limiter', 'engine', 'key', 'cost', 'skip', 'headers', 'onDenied', 'trustedProxies']
const PASSED: GateAnswer = { passed: true, headers: [] }

/** @throws LimiterError INVALID_OPTIONS for an unknown option, or without exactly one of limiter and engine */
export function createGate<Request>(options: GateOptions<Request>): Gate<Request> {
  refuseUnknown('rateLimit', options, KNOWN)
  const { limiter, engine, skip } = options
  if ((limiter === undefined) === (engine === undefined))
    throw new LimiterError('INVALID_OPTIONS', 'rateLimit: give either limiter or engine')
  const ask = limiter === undefined ? byEngine(engine as Decider, options) : byLimiter(limiter, options)
  return async (request, facts) => {
    if (skip !== undefined && (await skip(request))) return PASSED
    const decision = await ask(request, facts)
    const headers = headersOf(decision, decision.identity, options.headers ?? engine?.headers)
    if (decision.allowed) return { passed: true, headers, decision }
    const problem = problemOf(decision, decision.violated.length > 0 ? decision.violated : undefined)
    return { passed: false, headers, decision, problem }
  }
}

type Ask<Request> = (request: Request, facts: RequestFacts) => Promise<EngineAnswer>

function byEngine<Request>(engine: Decider, { cost }: GateOptions<Request>): Ask<Request> {
  return async (request, facts) => {
    const charged = await costOf(cost, request)
    return engine.decide(charged === undefined ? facts : { ...facts, cost: charged })
  }
}

function byLimiter<Request>(limiter: Limiter, options: GateOptions<Request>): Ask<Request> {
  const trust = trustProxies(options.trustedProxies ?? [])
  return async (request, facts) => {
    const key = options.key === undefined ? addressKey(clientAddress(facts.ip, facts.headers, trust)) : await options.key(request)
    const cost = await costOf(options.cost, request)
    const decision = await limiter.check(key, cost === undefined ? {} : { cost })
    return { ...decision, identity: `${key}|${normalizePath(facts.path)}|${limiter.name}`, violated: [] }
  }
}

async function costOf<Request>(cost: GateOptions<Request>['cost'], request: Request): Promise<number | undefined> {
  return typeof cost === 'function' ? cost(request) : cost
}

/** A peer without an address (a Unix socket) is its own, named identity, never an empty key. */
function addressKey(address: string | undefined): string {
  return address === undefined ? 'address-unknown' : groupAddress(address)
}
