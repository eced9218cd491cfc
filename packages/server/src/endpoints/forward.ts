import type { IncomingMessage, ServerResponse } from 'node:http'
import { type HeaderList, headersOf, PROBLEM_TYPE, problemOf } from 'sluice/http'
import { type Engine, type EngineDecision, isTrustedPeer, type RequestFacts } from 'sluice/policy'
import { BadRequest, send } from '../http/answer.ts'
import type { Routed } from '../http/routes.ts'

/** A request as one family of headers describes it: X-Forwarded-* or X-Original-*. */
type Original = Readonly<Record<'method' | 'uri' | 'host', string | undefined>>

/**
 * `ANY /v1/auth`: forward-auth of Traefik, Caddy, nginx, HAProxy and Envoy. `?denied=403` is for nginx, which accepts only 401 and 403 as
 * denials.
 */
export async function auth(engine: Engine, { request, response, rest, query }: Routed): Promise<void> {
  const trust = engine.policy.trustedProxies
  const peer = request.socket.remoteAddress
  // Without this check, all clients of an untrusted proxy would count as one.
  if (trust === undefined || !isTrustedPeer(peer, trust))
    throw new BadRequest('Only a trusted proxy may call this endpoint: name its address in trustedProxies of the policy.')
  const [forwarded, original] = [originalIn(request, 'x-forwarded'), originalIn(request, 'x-original')]
  // A proxy may pass on the other family of headers as the client sent them.
  if (areTwoRequests(forwarded, original, request))
    throw new BadRequest(
      'X-Forwarded-* and X-Original-* describe two different requests: have the proxy remove those that it does not set.',
    )
  const described = forwarded.uri === undefined ? original : forwarded
  const uri = described.uri ?? (rest === '' ? undefined : ownTarget(request, rest))
  if (uri === undefined) throw new BadRequest('The proxy must send X-Forwarded-Uri or X-Original-URI.')
  const decision = await engine.decide(factsOf(request, { ...described, uri }))
  // Without a header that gives the URI, the query is the client's.
  const wanted = described.uri === undefined ? null : query.get('denied')
  answer(response, engine, decision, wanted === '403' ? 403 : undefined)
}

/** `POST /v1/decision`: the decision call of Fairvisor's Token Bucket. Any method is accepted, because proxies send the original one. */
export async function decide(engine: Engine, { request, response, path, rest }: Routed): Promise<void> {
  const described = originalIn(request, 'x-original')
  const uri = described.uri ?? ownTarget(request, rest === '' ? path : rest)
  answer(response, engine, await engine.decide(factsOf(request, { ...described, uri })))
}

/** @throws BadRequest for a repeated method or URI, because one of the values may come from the client. All hosts count. */
function originalIn(request: IncomingMessage, family: 'x-forwarded' | 'x-original'): Original {
  const one = (name: 'method' | 'uri' | 'host'): string | undefined => {
    const header = `${family}-${name}`
    const value = request.headers[header]
    if (name !== 'host' && value?.includes(', ') === true && (request.headersDistinct[header]?.length ?? 0) > 1)
      throw new BadRequest(`${header} is there more than once: have the proxy replace what a client sends.`)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return { method: one('method'), uri: one('uri'), host: one('host') }
}

/** A family with a URI is a whole request: a method or host that it lacks is that of the call, and a client must not add another. */
function areTwoRequests(one: Original, other: Original, { method, headers }: IncomingMessage): boolean {
  if (differ(one.method, other.method)) return true
  if (one.uri === undefined || other.uri === undefined) return false
  const isSameMethod = (one.method ?? method) === (other.method ?? method)
  const isSameHost = (one.host ?? headers.host) === (other.host ?? headers.host)
  return one.uri !== other.uri || !isSameMethod || !isSameHost
}

function differ(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}

function ownTarget({ url = '/' }: IncomingMessage, path: string): string {
  return path + (/[?#].*/s.exec(url)?.[0] ?? '')
}

function factsOf(request: IncomingMessage, { method, uri, host }: Original & { readonly uri: string }): RequestFacts {
  const ip = request.socket.remoteAddress
  return {
    method: method ?? request.method ?? 'GET',
    path: uri,
    // Proxies in a chain join the hosts of their requests with commas.
    headers: host === undefined ? request.headers : { ...request.headers, host: host.split(',') },
    rawHeaders: request.rawHeaders,
    ...(ip === undefined ? {} : { ip }),
  }
}

function answer(response: ServerResponse, { headers: choice }: Engine, decision: EngineDecision, denied?: number) {
  const headers = headersOf(decision, decision.identity, choice)
  if (decision.allowed) return send(response, 200, 'text/plain', '', headers)
  const problem = problemOf(decision, decision.violated.length > 0 ? decision.violated : undefined)
  const status = problem.status === 503 ? 503 : (denied ?? problem.status)
  const intended: HeaderList = status === problem.status ? [] : [['X-RateLimit-Status', String(problem.status)]]
  send(response, status, PROBLEM_TYPE, `${JSON.stringify({ ...problem, status })}\n`, [...headers, ...intended])
}
