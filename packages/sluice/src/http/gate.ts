import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { FLAG, type Form, requireForm } from '../errors/options.ts'
import type { Headers } from '../identity/headers.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { addressKeys } from './address-key.ts'
import { checkGateOptions, type Decider, type GateOptions, type Peers } from './gate-options.ts'
import { type HeaderSink, type HeaderWriter, headerWriter } from './headers.ts'
import { type Answer, answerOf, refusals } from './problem.ts'

/** Reads a framework's request. The gate calls only the methods that it needs. */
export interface RequestReader<Request> {
  method(request: Request): string
  /** The request target as the client sent it. */
  target(request: Request): string
  headers(request: Request): Headers
  /** Names and values alternating, one pair for each line. Without them, a comma in a value counts as several lines. */
  rawHeaders?(request: Request): readonly string[] | undefined
  /** The matched route as a pattern, never a concrete path; undefined if it is not known. */
  route?(request: Request): string | undefined
}

/** Whether a request may pass, and the answer if it may not. */
export interface Passage {
  /** Absent if the request was skipped. */
  readonly decision?: Decision
  /** The answer to a refused request. */
  readonly answer?: Answer
  /** Spreads retries; it is not sent. */
  readonly identity: string
}

/** Decides on requests of any framework. */
export interface Gate<Request> {
  /**
   * Synchronous if the store is in this process and no option is asynchronous. Throws or rejects with what key, cost or skip threw. Throws
   * a LimiterError for an invalid key, cost or result of skip. Never fails because the store fails.
   * @param peer the address of the socket, if it has one
   */
  check(request: Request, peer: string | undefined): Passage | Promise<Passage>
  /** Adds the header fields of a passage to existing ones. */
  applyHeaders(sink: HeaderSink, passage: Passage): void
}

const READER: Form = [
  (value) =>
    ['method', 'target', 'headers'].every((name) => typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function'),
  'an object with the functions method, target and headers',
]
const SKIPPED: Passage = { identity: '' }

/** A text such as 'false' is refused, because it would let everything pass. @throws LimiterError INVALID_OPTIONS */
function isSkipped(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') requireForm('rateLimit', 'what skip returned', value, FLAG)
  return value === true
}

/** @throws LimiterError INVALID_OPTIONS for an unknown or contradictory option, or without exactly one of limiter and engine */
export function createGate<Request>(options: GateOptions<Request>, reader: RequestReader<Request>, peers: Peers = 'socket'): Gate<Request> {
  checkGateOptions(options, peers)
  requireForm('createGate', 'reader', reader, READER)
  const { limiter, skip } = options
  const check = limiter === undefined ? byEngine(options.engine as Decider, options, reader) : byLimiter(limiter, options, reader)
  const writer = writerOf(options)
  return {
    check:
      skip === undefined
        ? check
        : (request, peer) => chain(skip(request), (skipped) => (isSkipped(skipped) ? SKIPPED : check(request, peer))),
    applyHeaders(sink, { decision, identity }) {
      if (decision !== undefined) writer()(sink, decision, identity)
    },
  }
}

type Check<Request> = Gate<Request>['check']

function byEngine<Request>(engine: Decider, { cost }: GateOptions<Request>, reader: RequestReader<Request>): Check<Request> {
  return async (request, peer) => {
    const route = reader.route?.(request)
    const rawHeaders = reader.rawHeaders?.(request)
    const charged = typeof cost === 'function' ? await cost(request) : cost
    const decision = await engine.decide({
      method: reader.method(request),
      path: reader.target(request),
      headers: reader.headers(request),
      ...(rawHeaders === undefined ? {} : { rawHeaders }),
      ...(peer === undefined ? {} : { ip: peer }),
      ...(charged === undefined ? {} : { cost: charged }),
      ...(route === undefined ? {} : { route }),
    })
    const { identity, violated } = decision
    if (decision.allowed) return { decision, identity }
    return { decision, identity, answer: answerOf(decision, violated.length > 0 ? violated : undefined) }
  }
}

function byLimiter<Request>(limiter: Limiter, options: GateOptions<Request>, reader: RequestReader<Request>): Check<Request> {
  const { key: keyOf, cost } = options
  const addressKey = addressKeys(options.trustedProxies === undefined ? [] : options.trustedProxies)
  const check = checkOf(limiter)
  const refuse = refusals()
  const passage = (request: Request, key: string, decision: Decision): Passage => {
    if (decision.allowed) return { decision, identity: '' }
    return { decision, identity: `${key}|${pathOf(reader.target(request))}|${limiter.name}`, answer: refuse(decision) }
  }
  const charge = (request: Request, key: string): Passage | Promise<Passage> =>
    chain(typeof cost === 'function' ? cost(request) : cost, (charged) =>
      chain(check(key, charged), (decision) => passage(request, key, decision)),
    )
  return (request, peer) =>
    keyOf === undefined
      ? charge(
          request,
          addressKey(peer, () => reader.headers(request)),
        )
      : chain(keyOf(request), (key) => charge(request, key))
}

/** Calls a synchronous limiter without creating a promise. */
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

/** A target without its query, as the client sent it. It only spreads retries, so it needs no normalisation. */
function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

function writerOf<Request>({ headers, engine }: GateOptions<Request>): () => HeaderWriter {
  let written = headers === undefined ? engine?.headers : headers
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

/** Calls `next` synchronously if the value is there, so that calls that need no waiting create no promise. */
function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value)
}

function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
