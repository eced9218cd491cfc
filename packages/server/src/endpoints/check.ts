import { LimiterError } from 'sluice'
import { headersOf, problemOf } from 'sluice/http'
import type { Engine } from 'sluice/policy'
import { BadRequest, JSON_TYPE, refusalOf, send } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import { readRequest, readRequests } from './check-body.ts'
import { decisionJson } from './decision-json.ts'
import type { Asked } from '../http/routes.ts'

/** Largest body of one call and of a list, in bytes. */
const LARGEST_REQUEST = 65_536
const LARGEST_LIST = 1_048_576

/** `POST /v1/check`: returns one decision. With `?status=http` it also sets the status and the headers that a client would get. */
export async function check(engine: Engine, { request, response, query }: Asked): Promise<void> {
  const call = readRequest(await readJson(request, LARGEST_REQUEST))
  const decision = 'key' in call ? await engine.decideKey(call) : await engine.decide(call)
  if (decision.detail !== undefined) throw new BadRequest(decision.detail, { reason: decision.reason })
  const body = `${decisionJson(decision)}\n`
  if (query.get('status') !== 'http') return send(response, 200, JSON_TYPE, body)
  const headers = headersOf(decision, decision.identity, engine.headers)
  send(response, decision.allowed ? 200 : problemOf(decision).status, JSON_TYPE, body, headers)
}

/**
 * `POST /v1/checks`: decides a list of calls in order, in one store call, and returns the list of decisions. A path that cannot be read
 * is reported in its own decision, so one client's bad path does not fail the other calls.
 */
export async function checks(engine: Engine, { request, response }: Asked): Promise<void> {
  const list = readRequests(await readJson(request, LARGEST_LIST))
  const decisions = await engine.decideMany(list).catch((error: unknown) => {
    throw withIndex(error)
  })
  send(response, 200, JSON_TYPE, `[${decisions.map(decisionJson).join(',')}]\n`)
}

/** Adds the index of a wrong request as a number. The engine names it only in its message, which programs cannot read easily. */
function withIndex(error: unknown): unknown {
  if (!(error instanceof LimiterError)) return error
  const index = /^request (\d+): /.exec(error.message)?.[1]
  return index === undefined ? error : refusalOf(error, { index: Number(index) })
}
