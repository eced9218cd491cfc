import type { Decision, Hold } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { DECISION, FLAG, type Form, having, requireForm } from '../errors/options.ts'
import type { Headers } from '../identity/headers.ts'
import type { RequestFacts } from '../identity/request.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { addressKeys } from './address-key.ts'
import { type Reserved, reservingChecks, type Settle, settlements } from './counting.ts'
import { checkGateOptions, type Decider, type GateOptions, isCounting, isWaiting, type Peers } from './gate-options.ts'
import { type HeaderSink, headerWriter, writerFor } from './headers.ts'
import { byLimit } from './limit-of-request.ts'
import { type Answer, answerOf, refusals } from './problem.ts'
import { type Checked, waitingChecks } from './waiting.ts'

/** Reads the fields of a framework's request. */
export interface RequestReader<Request> {
  /** The method as the client sent it. */
  method(request: Request): string
  /** The request target as the client sent it. */
  target(request: Request): string
  /** Header fields by lower-case name. */
  headers(request: Request): Headers
  /** Alternating names and values, a pair for each header line. Without this method, a value with a comma counts as several lines. */
  rawHeaders?(request: Request): readonly string[] | undefined
  /** The matched route as a pattern, never a concrete path, which may identify somebody. */
  route?(request: Request): string | undefined
  /**
   * Calls `leave` when the client disconnects before it has its response. Returns a function that stops listening. Without this method, a
   * waiting request (`onDenied: 'wait'`) keeps waiting after its client has left.
   */
  onLeave?(request: Request, leave: () => void): () => void
}

/** Whether a request may pass, and the answer if it may not. */
export interface Passage {
  /** Absent if the request was skipped. */
  readonly decision?: Decision
  /** The answer to a refused request. */
  readonly answer?: Answer
  /** Distinguishes clients, to spread their retries over time. It is not sent. */
  readonly identity: string
  /** Set if the client left while it waited (`onDenied: 'wait'`). The request may not go on. */
  readonly left?: true
  /**
   * Gives back the request's slots of concurrency limits; absent if it has none. Call it when the response has ended in any way. Later
   * calls have no effect. Never throws.
   */
  readonly release?: () => void
  /**
   * Counts the request by its response (`countWhen`, `actualCost`); absent if no cost was reserved. Call it when the response has ended.
   * If it is never called, the cost stays charged. Never throws.
   */
  readonly settle?: Settle
}

/** Limits the requests of a framework. */
export interface Gate<Request> {
  /**
   * Decides synchronously if the store is in this process and no option is asynchronous. Throws or rejects with errors of the options'
   * functions and for their invalid results, but never because the store fails.
   * @param peer the address of the socket, if it has one
   */
  check(request: Request, peer: string | undefined): Passage | Promise<Passage>
  /** Sets the header fields that report the limits. */
  applyHeaders(sink: HeaderSink, passage: Passage): void
}

const READER: Form = having('an object with the functions method, target and headers', 'method', 'target', 'headers')
const SKIPPED: Passage = { identity: '' }
const LEFT: Passage = { identity: '', left: true }

/** A text such as 'false' is refused, because it would be true as a condition. */
function isSkipped(value: unknown): boolean {
  if (value !== undefined && typeof value !== 'boolean') requireForm('rateLimit', 'what skip returned', value, FLAG)
  return value === true
}

/**
 * Makes a gate, the part that all adapters share.
 * @throws LimiterError INVALID_OPTIONS for an unknown or contradictory option, or without exactly one of limiter and engine
 */
export function createGate<Request, Response = unknown>(
  options: GateOptions<Request, Response>,
  reader: RequestReader<Request>,
  peers: Peers = 'socket',
): Gate<Request> {
  checkGateOptions(options, peers)
  requireForm('createGate', 'reader', reader, READER)
  const { limiter, engine, skip, headers, retryAfterJitter = true } = options
  const check = limiter === undefined ? byEngine(options.engine as Decider, options, reader) : byLimiter(limiter, options, reader)
  const writer = headerWriter(headers === undefined ? engine?.headers : headers)
  return {
    check:
      skip === undefined
        ? check
        : (request, peer) => chain(skip(request), (skipped) => (isSkipped(skipped) ? SKIPPED : check(request, peer))),
    applyHeaders(sink, { decision, identity }) {
      if (decision === undefined) return
      // Not cached, because a reloaded policy may choose other fields.
      const write = headers === undefined && engine !== undefined ? writerFor(engine.headers) : writer
      write(sink, decision, retryAfterJitter ? identity : undefined)
    },
  }
}

type Check<Request> = Gate<Request>['check']

function byEngine<Request, Response>(
  engine: Decider,
  options: GateOptions<Request, Response>,
  reader: RequestReader<Request>,
): Check<Request> {
  const { cost, holdMs } = options
  const settling = isCounting(options) ? settlements(options) : undefined
  const held = holdMs === undefined ? undefined : { holdMs }
  return async (request, peer) => {
    const route = reader.route?.(request)
    const rawHeaders = reader.rawHeaders?.(request)
    const charged = typeof cost === 'function' ? validCost(await cost(request)) : cost
    const facts: RequestFacts = {
      method: reader.method(request),
      path: reader.target(request),
      headers: reader.headers(request),
      ...(rawHeaders === undefined ? {} : { rawHeaders }),
      ...(peer === undefined ? {} : { ip: peer }),
      ...(charged === undefined ? {} : { cost: charged }),
      ...(route === undefined ? {} : { route }),
    }
    if (settling !== undefined) {
      // A handler may change the headers, but `settle` must compute the same keys from them as `reserve`.
      const kept = { ...facts, headers: { ...facts.headers } }
      const reserved = await engine.reserve?.(kept, held)
      requireForm('rateLimit', 'the decision of what engine.reserve returned', reserved?.decision, DECISION)
      const { decision, id } = reserved as NonNullable<typeof reserved>
      const { identity, violated } = decision
      if (!decision.allowed) return { decision, identity, answer: answerOf(decision, violated.length > 0 ? violated : undefined) }
      return { decision, identity, settle: settling(request, async (actual) => engine.settle?.(kept, id, actual)) }
    }
    const decision = await engine.decide(facts)
    requireForm('rateLimit', 'what engine.decide returned', decision, DECISION)
    const { identity, violated, hold } = decision
    const release = hold === undefined || engine.release === undefined ? undefined : once(() => engine.release?.(decision))
    const passage = release === undefined ? { decision, identity } : { decision, identity, release }
    if (decision.allowed) return passage
    return { ...passage, answer: answerOf(decision, violated.length > 0 ? violated : undefined) }
  }
}

function byLimiter<Request, Response>(
  limiter: Limiter,
  options: GateOptions<Request, Response>,
  reader: RequestReader<Request>,
): Check<Request> {
  const { key: keyOf, limit: limitOf, cost, ipv6Prefix } = options
  const addressKey = addressKeys(options.trustedProxies, ipv6Prefix, options.onWarning)
  const settling = isCounting(options) ? settlements(options) : undefined
  const checked: CheckOf<Request> =
    settling !== undefined ? reservingChecks(options) : isWaiting(options) ? waitingChecks(options, reader.onLeave) : checkOf
  const check = checked(limiter)
  const checkBy = byLimit(limiter, checked)
  const refuse = refusals()
  // Limiters for the option `limit` share the states of this one, so this one can release slots that they granted.
  const releaseOf = (key: string, { id }: Hold): Pick<Passage, 'release'> => ({ release: once(() => limiter.release(key, id)) })
  const passage = (request: Request, key: string, decision: Decision): Passage => {
    if (decision?.allowed && decision.hold === undefined) return { decision, identity: '' }
    requireForm('rateLimit', 'what limiter.check returned', decision, DECISION)
    const held = decision.hold === undefined ? {} : releaseOf(key, decision.hold)
    if (decision.allowed) return { ...held, decision, identity: '' }
    return { ...held, decision, identity: `${key}|${pathOf(reader.target(request))}|${limiter.name}`, answer: refuse(decision) }
  }
  const checkOfRequest =
    limitOf === undefined
      ? (request: Request, key: string, charged: number | undefined) => check(key, charged, request)
      : (request: Request, key: string, charged: number | undefined) =>
          chain(limitOf(request), (limit) => checkBy(limit)(key, charged, request))
  const decide = (request: Request, key: string, charged: number | undefined): Passage | Promise<Passage> =>
    chain(checkOfRequest(request, key, charged), (result) => {
      if (result === 'left') return LEFT
      if (settling === undefined) return passage(request, key, result as Decision)
      const { decision, settle } = (result ?? {}) as Reserved
      const reserved = passage(request, key, decision)
      return decision.allowed ? { ...reserved, settle: settling(request, settle) } : reserved
    })
  const charge = (request: Request, key: string): Passage | Promise<Passage> =>
    typeof cost === 'function' ? chain(cost(request), (charged) => decide(request, key, validCost(charged))) : decide(request, key, cost)
  return (request, peer) =>
    keyOf === undefined
      ? charge(
          request,
          addressKey(peer, () => reader.headers(request)),
        )
      : chain(keyOf(request), (key) => charge(request, key))
}

/** Refuses undefined, which would count as 1. */
function validCost(cost: number): number {
  if (cost !== undefined) return cost
  throw new LimiterError('INVALID_COST', 'rateLimit: what cost returned is undefined, expected a number above 0')
}

/** A rejection is dropped, because nobody waits for it. */
function once(run: () => Promise<void> | undefined): () => void {
  let left = true
  return () => {
    if (!left) return
    left = false
    Promise.resolve()
      .then(run)
      .catch(() => undefined)
  }
}

type CheckOf<Request> = (
  limiter: Limiter,
) => (key: string, cost: number | undefined, request: Request) => Checked | Reserved | Promise<Checked | Reserved>

/** Prefers `checkSync`, because a promise costs time. */
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

function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** Calls `next` at once unless the value is a promise, because a promise costs time. */
function chain<T, U>(value: T | PromiseLike<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value)
}

function isLater<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value
}
