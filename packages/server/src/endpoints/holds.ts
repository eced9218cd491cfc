import { LimiterError, StoreFailure } from 'sluice'
import type { Engine, KeyRequest, RequestFacts } from 'sluice/policy'
import { BadRequest, Refusal, sendJson } from '../http/answer.ts'
import { objectOf, readJson } from '../http/body.ts'
import { parametersOf } from '../http/query.ts'
import type { Route, Routed } from '../http/routes.ts'
import type { HoldTokens } from '../identity/hold-tokens.ts'
import { answerDecision, kindOf, MAX_REQUEST_BYTES, readRequest, wantsStatus } from './check.ts'

/** An id of 128 characters, a dot, and the signature. */
const MAX_TOKEN = 256

type Fields = Readonly<Record<string, unknown>>

/**
 * `POST /v1/reserve`, `/v1/settle`, `/v1/extend`, `/v1/cancel`. The body is that of `/v1/check` with further fields. `id` is an id of the
 * caller's choice for `/v1/reserve`, and otherwise the signed id that `/v1/reserve` returned.
 */
export function holdRoutes(engine: Engine, tokens: HoldTokens): readonly (readonly [path: string, route: Route])[] {
  const change = (
    names: readonly string[],
    work: (request: KeyRequest | RequestFacts, id: string, fields: Fields) => Promise<unknown>,
  ): Route => ({
    async POST(routed) {
      parametersOf(routed, [])
      const { request, response } = routed
      const { call, fields } = split(await readJson(request, MAX_REQUEST_BYTES), ['id', ...names])
      sendJson(response, 200, await work(call, idOf(tokens, fields['id'], keyOf(call)), fields).catch(refusedByStore))
    },
  })
  return [
    ['/v1/reserve', { POST: (routed: Routed) => reserve(engine, tokens, routed) }],
    ['/v1/settle', change(['actual'], (call, id, { actual }) => engine.settle(call, id, optionalNumber('actual', actual)))],
    ['/v1/extend', change(['holdMs'], (call, id, { holdMs }) => engine.extend(call, id, numberOf('holdMs', holdMs)))],
    ['/v1/cancel', change([], (call, id) => engine.cancel(call, id))],
  ]
}

/** 503: the request may be sent again. 501: the store does not support reservations. */
function refusedByStore(error: unknown): never {
  if (error instanceof StoreFailure) throw new Refusal(503, 'The store could not answer; send the request again.', { kind: error.kind })
  if (error instanceof LimiterError && error.code === 'NOT_SUPPORTED') throw new Refusal(501, error.message)
  throw error
}

async function reserve(engine: Engine, tokens: HoldTokens, routed: Routed): Promise<void> {
  const { response } = routed
  const asHttp = wantsStatus(routed)
  const { call, fields } = split(await readJson(routed.request, MAX_REQUEST_BYTES), ['id', 'holdMs'])
  if (tokens.tokenOf('', undefined) === undefined) {
    throw new Refusal(501, 'This service has several processes: reservations need reservations.secretFile in the policy.')
  }
  const holdMs = optionalNumber('holdMs', fields['holdMs'])
  const own = fields['id']
  if (own !== undefined && typeof own !== 'string') throw new BadRequest(`The field id is ${found(own)}; expected a text.`)
  const options = { ...(holdMs === undefined ? {} : { holdMs }), ...(own === undefined ? {} : { id: own }) }
  const { decision, id } = await engine.reserve(call, options).catch(refusedByStore)
  const mayHold = decision.outcome === 'allowed' || decision.outcome === 'undecided'
  answerDecision(engine, { response, asHttp }, decision, mayHold ? `"id":${JSON.stringify(tokens.tokenOf(id, keyOf(call)))}` : '')
}

/** @throws BadRequest as for /v1/check */
function split(body: unknown, names: readonly string[]): { readonly call: KeyRequest | RequestFacts; readonly fields: Fields } {
  const all = Object.entries(objectOf(body, 'The body must be an object with key, or with path.'))
  const own = all.filter(([name]) => names.includes(name))
  const call = readRequest(Object.fromEntries(all.filter(([name]) => !names.includes(name))), names)
  return { call, fields: Object.fromEntries(own) }
}

function keyOf(call: KeyRequest | RequestFacts): string | undefined {
  return 'key' in call ? call.key : undefined
}

/** @throws Refusal 403 for an id that this service has not signed for this key */
function idOf(tokens: HoldTokens, token: unknown, key: string | undefined): string {
  if (typeof token !== 'string' || token === '')
    throw new BadRequest(`The field id is ${found(token)}; expected what /v1/reserve returned as id.`)
  const id = token.length > MAX_TOKEN ? undefined : tokens.idOf(token, key)
  if (id === undefined) throw new Refusal(403, 'This service has not returned this id for this request.')
  return id
}

function optionalNumber(name: string, value: unknown): number | undefined {
  return value === undefined ? undefined : numberOf(name, value)
}

/** The engine checks the range. */
function numberOf(name: string, value: unknown): number {
  if (typeof value === 'number') return value
  throw new BadRequest(`The field ${name} is ${found(value)}; expected a number.`)
}

function found(value: unknown): string {
  return value === undefined ? 'missing' : kindOf(value)
}
