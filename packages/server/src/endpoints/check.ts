import { LimiterError } from 'sluice'
import { headersOf, problemOf } from 'sluice/http'
import type { Engine, EngineDecision, KeyRequest, RequestFacts } from 'sluice/policy'
import { BadRequest, JSON_TYPE, refusalOf, send } from '../http/answer.ts'
import { objectOf, readJson } from '../http/body.ts'
import { parametersOf } from '../http/query.ts'
import { addressOf } from '../http/site-guard.ts'
import type { Routed } from '../http/routes.ts'
import { decisionJson } from './decision-json.ts'

export const MAX_REQUEST_BYTES = 65_536
const MAX_LIST_BYTES = 1_048_576
const KEY_FIELDS = ['key', 'limit', 'cost']
const FACT_FIELDS = ['method', 'path', 'headers', 'ip', 'cost']
const MAX_REQUESTS = 1_000
const MAX_SHOWN_LENGTH = 60
const NO_HEADERS = Object.freeze({})

/** `POST /v1/check`. With `?status=http` it also sets the status and headers that a client would get. */
export async function check(engine: Engine, routed: Routed): Promise<void> {
  const asHttp = wantsStatus(routed)
  const call = readRequest(await readJson(routed.request, MAX_REQUEST_BYTES))
  answerDecision(engine, { response: routed.response, asHttp }, 'key' in call ? await engine.decideKey(call) : await engine.decide(call))
}

/** @throws BadRequest for another parameter or value */
export function wantsStatus(routed: Routed): boolean {
  const status = parametersOf(routed, ['status']).get('status')
  if (status === null || status === 'http') return status === 'http'
  throw new BadRequest(`status is ${shown(status)}; expected http, or no parameter.`)
}

interface Answer {
  readonly response: Routed['response']
  readonly asHttp: boolean
}

/** @param more JSON members to add to those of the decision */
export function answerDecision(engine: Engine, { response, asHttp }: Answer, decision: EngineDecision, more = ''): void {
  if (decision.detail !== undefined) throw new BadRequest(decision.detail, { reason: decision.reason })
  const json = decisionJson(decision)
  const body = more === '' ? `${json}\n` : `${json.slice(0, -1)},${more}}\n`
  if (!asHttp) return send(response, 200, JSON_TYPE, body)
  const headers = headersOf(decision, decision.identity, engine.headers)
  send(response, decision.allowed ? 200 : problemOf(decision).status, JSON_TYPE, body, headers)
}

/** `POST /v1/checks`: one store call for a list. A path that cannot be read fails only its own decision. */
export async function checks(engine: Engine, routed: Routed): Promise<void> {
  parametersOf(routed, [])
  const { request, response } = routed
  const list = readRequests(await readJson(request, MAX_LIST_BYTES))
  const decisions = await engine.decideMany(list).catch(refuseWithIndex)
  send(response, 200, JSON_TYPE, `[${decisions.map(decisionJson).join(',')}]\n`)
}

/** The engine names the index only in its message. */
function refuseWithIndex(error: unknown): never {
  if (!(error instanceof LimiterError)) throw error
  const index = /^request (\d+): /.exec(error.message)?.[1]
  throw index === undefined ? error : refusalOf(error, { index: Number(index) })
}

/**
 * Reads `{ key, limit?, cost? }` or `{ method?, path, headers?, ip?, cost? }`.
 * @param more further fields of the endpoint, for messages
 * @throws BadRequest
 */
export function readRequest(body: unknown, more: readonly string[] = []): KeyRequest | RequestFacts {
  const fields = objectOf(body, 'The body must be an object with key, or with path.')
  const byKey = Object.hasOwn(fields, 'key')
  if (!byKey && !Object.hasOwn(fields, 'path')) throw new BadRequest('The body needs key or path.')
  const allowed = byKey ? KEY_FIELDS : FACT_FIELDS
  const unknown = Object.keys(fields).find((name) => !allowed.includes(name))
  if (unknown !== undefined)
    throw new BadRequest(`The field ${shown(unknown)} is not known here; allowed are ${[...allowed, ...more].join(', ')}.`)
  const { cost, key, limit, method = 'GET', path, headers, ip } = fields
  const charged = cost === undefined ? {} : { cost: costOf(cost) }
  if (byKey) return { key: textOf('key', key), ...(limit === undefined ? {} : { limit: textOf('limit', limit) }), ...charged }
  return {
    method: textOf('method', method),
    path: textOf('path', path),
    headers: readHeaders(headers),
    ...(ip === undefined ? {} : { ip: addressIn(textOf('ip', ip)) }),
    ...charged,
  }
}

/** @throws BadRequest with the index of the wrong request, from 0 */
function readRequests(body: unknown): (KeyRequest | RequestFacts)[] {
  if (!Array.isArray(body)) throw new BadRequest('The body must be a list of requests, each as for /v1/check.')
  if (body.length > MAX_REQUESTS) throw new BadRequest(`The list has ${body.length} requests; at most ${MAX_REQUESTS} are allowed.`)
  return body.map((item: unknown, index) => {
    try {
      return readRequest(item)
    } catch (error) {
      throw error instanceof BadRequest ? new BadRequest(`request ${index}: ${error.message}`, { index }) : error
    }
  })
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  const found = name === 'key' || name === 'ip' ? kindOf(value) : shown(value)
  throw new BadRequest(`The field ${name} is ${found}; expected a text that is not empty.`)
}

/** Requests with a wrong address would share one bucket with those without an address. */
function addressIn(text: string): string {
  if (addressOf(text) !== undefined) return text
  throw new BadRequest('The field ip is not an address; expected one such as 203.0.113.9 or 2001:db8::1, without a port.')
}

/** The limiter checks the range and the decimals. */
function costOf(value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  const found = typeof value === 'number' ? 'too large' : shown(value)
  throw new BadRequest(`The field cost is ${found}; expected a number above 0 and at most 9007199254 with at most six decimals.`)
}

/** Two spellings of a name become one header with two lines. */
function readHeaders(value: unknown): Record<string, string | readonly string[]> {
  if (value === undefined) return NO_HEADERS
  const headers = new Map<string, string | readonly string[]>()
  const fields = objectOf(value, 'The field headers must be an object of names and values.')
  for (const [spelt, content] of Object.entries(fields)) {
    const name = spelt.toLowerCase()
    const lines = linesOf(spelt, content)
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? lines : [earlier, lines].flat())
  }
  return Object.fromEntries(headers)
}

/** A text may be several lines joined by commas. */
function linesOf(name: string, content: unknown): string | readonly string[] {
  if (typeof content === 'string') return content
  if (Array.isArray(content) && content.every((item) => typeof item === 'string')) return content
  throw new BadRequest(`The header ${shown(name)} is ${kindOf(content)}; expected a text or a list of texts.`)
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_SHOWN_LENGTH) : value)
  return typeof value === 'string' && value.length > MAX_SHOWN_LENGTH ? `${text}...` : text
}

/** Messages must not contain an identity. */
export function kindOf(value: unknown): string {
  if (value === '') return 'empty'
  return typeof value === 'number' || typeof value === 'boolean' ? `a ${typeof value}` : shown(value)
}
