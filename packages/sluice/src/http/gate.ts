import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { refuseUnknown } from '../errors/options.ts'
import type { Headers } from '../identity/client-address.ts'
import { normalizePath } from '../identity/path.ts'
import type { RequestFacts } from '../identity/request.ts'
import type { TrustedProxies } from '../identity/trusted-proxies.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { HeaderOptions } from '../policy/header-choice.ts'
import { addressKeys } from './address-key.ts'
import { type HeaderSink, type HeaderWriter, headerWriter } from './headers.ts'
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
  /** Who is asking, for a limiter; default: the client's address, IPv6 by /64. An engine has the keys of its rules. */
  readonly key?: (request: Request) => string | Promise<string>
  /** Tokens a request takes, instead of 1 or of what the rules say. */
  readonly cost?: number | ((request: Request) => number | Promise<number>)
  /** Requests that are not limited at all. */
  readonly skip?: (request: Request) => boolean | Promise<boolean>
  /** Default: what the policy says, or else draft-11. */
  readonly headers?: HeaderOptions
  /** Networks whose forwarding header is believed, for a limiter; default none. An engine has its own from the policy. */
  readonly trustedProxies?: readonly string[] | TrustedProxies
}

/** How a framework's request is read; nothing is read that is not needed. */
export interface RequestReader<Request> {
  method(request: Request): string
  /** The request target as the client sent it. */
  target(request: Request): string
  headers(request: Request): Headers
  /** The matched route as a pattern, never a concrete path; undefined where it is not known. */
  route?(request: Request): string | undefined
}

/** Whether a request may pass, and what it is told. */
export interface Passage {
  readonly passed: boolean
  /** Absent where the request was skipped. */
  readonly decision?: Decision
  /** Where it did not pass: the answer. */
  readonly problem?: Problem
  /** Spreads retries; it is not sent. */
  readonly identity: string
}

/** Decides about requests of any framework. */
export interface Gate<Request> {
  /**
   * @param peer the address of the socket, where it has one
   * Rejects with what key, cost or skip threw, and with a LimiterError for a key or cost that is none; never for a failing store.
   */
  ask(request: Request, peer: string | undefined): Promise<Passage>
  /** Writes the header fields of a passage beside those that are there. */
  tell(sink: HeaderSink, passage: Passage): void
}

const KNOWN = ['limiter', 'engine', 'key', 'cost', 'skip', 'headers', 'onDenied', 'trustedProxies']
const FUNCTIONS = ['key', 'skip', 'onDenied', 'address']
const SKIPPED: Passage = { passed: true, identity: '' }

/**
 * @param peers where addresses come from; `option`: requests have none, so that there must be an option `address`, or a key
 * @throws LimiterError INVALID_OPTIONS for an unknown or contradictory option, or without exactly one of limiter and engine
 */
export function createGate<Request>(
  options: GateOptions<Request>,
  reader: RequestReader<Request>,
  peers: 'socket' | 'option' = 'socket',
): Gate<Request> {
  checkOptions(options, peers)
  const { limiter, skip } = options
  const ask = limiter === undefined ? byEngine(options.engine as Decider, options, reader) : byLimiter(limiter, options, reader)
  const writer = writerOf(options)
  return {
    async ask(request, peer) {
      if (skip !== undefined) {
        const skipped = skip(request)
        if (typeof skipped === 'boolean' ? skipped : await skipped) return SKIPPED
      }
      return ask(request, peer)
    },
    tell(sink, { decision, identity }) {
      if (decision !== undefined) writer()(sink, decision, identity)
    },
  }
}

type Ask<Request> = (request: Request, peer: string | undefined) => Promise<Passage>

function byEngine<Request>(engine: Decider, { cost }: GateOptions<Request>, reader: RequestReader<Request>): Ask<Request> {
  return async (request, peer) => {
    const route = reader.route?.(request)
    const charged = typeof cost === 'function' ? await cost(request) : cost
    const decision = await engine.decide({
      method: reader.method(request),
      path: reader.target(request),
      headers: reader.headers(request),
      ...(peer === undefined ? {} : { ip: peer }),
      ...(charged === undefined ? {} : { cost: charged }),
      ...(route === undefined ? {} : { route }),
    })
    return passageOf(decision, decision.identity, decision.violated)
  }
}

function byLimiter<Request>(limiter: Limiter, options: GateOptions<Request>, reader: RequestReader<Request>): Ask<Request> {
  const { key: keyOf, cost } = options
  const addressKey = addressKeys(options.trustedProxies ?? [])
  const check = checkOf(limiter)
  return async (request, peer) => {
    const chosen = keyOf === undefined ? addressKey(peer, () => reader.headers(request)) : keyOf(request)
    const key = typeof chosen === 'string' ? chosen : await chosen
    const charged = typeof cost === 'function' ? cost(request) : cost
    const found = check(key, charged === undefined || typeof charged === 'number' ? charged : await charged)
    const decision = found instanceof Promise ? await found : found
    const identity = decision.allowed ? '' : `${key}|${normalizePath(reader.target(request))}|${limiter.name}`
    return passageOf(decision, identity)
  }
}

/** Asks a limiter that can answer at once without a promise in between. */
function checkOf(limiter: Limiter): (key: string, cost: number | undefined) => Decision | Promise<Decision> {
  let sync = true
  return (key, cost) => {
    const options = cost === undefined ? undefined : { cost }
    if (!sync) return limiter.check(key, options)
    try {
      return limiter.checkSync(key, options)
    } catch (error) {
      if (!(error instanceof LimiterError) || error.code !== 'NOT_SYNCHRONOUS') throw error
      sync = false
      return limiter.check(key, options)
    }
  }
}

function passageOf(decision: Decision, identity: string, violated: readonly string[] = []): Passage {
  if (decision.allowed) return { passed: true, decision, identity }
  return { passed: false, decision, identity, problem: problemOf(decision, violated.length > 0 ? violated : undefined) }
}

/** The writer of the option or, where there is none, of the policy the engine has just now. */
function writerOf<Request>({ headers, engine }: GateOptions<Request>): () => HeaderWriter {
  let written = headers ?? engine?.headers
  let writer = headerWriter(written)
  if (headers !== undefined || engine === undefined) return () => writer
  return () => {
    if (engine.headers !== written) {
      written = engine.headers
      writer = headerWriter(written)
    }
    return writer
  }
}

function checkOptions<Request>(options: GateOptions<Request>, peers: 'socket' | 'option'): void {
  refuseUnknown('rateLimit', options, peers === 'socket' ? KNOWN : [...KNOWN, 'address'])
  const { limiter, engine, cost } = options
  if ((limiter === undefined) === (engine === undefined)) throw refused('give either limiter or engine')
  if (limiter !== undefined && typeof limiter.check !== 'function') throw refused('limiter is none; createLimiter makes one')
  if (engine !== undefined && typeof engine.decide !== 'function') throw refused('engine is none; createEngine makes one')
  const all = options as Readonly<Record<string, unknown>>
  for (const name of FUNCTIONS) {
    const given = all[name]
    if (given !== undefined && typeof given !== 'function') throw refused(`${name} is ${JSON.stringify(given)}, expected a function`)
  }
  if (cost !== undefined && typeof cost !== 'function' && !(typeof cost === 'number' && cost > 0 && cost < Infinity))
    throw new LimiterError('INVALID_COST', `rateLimit: cost is ${String(cost)}, expected a number above 0 or a function`)
  if (peers === 'option' && all['address'] === undefined && options.key === undefined)
    throw refused("a request has no address here; give address, the platform's, or for a limiter key")
  if (engine === undefined) return
  if (options.key !== undefined) throw refused('key is for a limiter; an engine takes the keys of its rules')
  if (options.trustedProxies !== undefined) throw refused('trustedProxies is for a limiter; an engine has those of its policy')
}

function refused(why: string): LimiterError {
  return new LimiterError('INVALID_OPTIONS', `rateLimit: ${why}`)
}
