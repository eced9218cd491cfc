import { LimiterError, StoreFailure } from 'sluice'
import type { Engine, KeyTarget, OverrideFields } from 'sluice/policy'
import { type Admission, guarded } from '../http/admin.ts'
import { BadRequest, Refusal, sendJson } from '../http/answer.ts'
import { objectOf, readJson } from '../http/body.ts'
import { parametersOf } from '../http/query.ts'
import { busiest } from '../page/busiest-keys.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import type { ReadReports } from '../workers/messages.ts'
import { answer, type Handler, type Route, type Routed } from '../http/routes.ts'

const MAX_DURATION_BYTES = 4_096
const MAX_OVERRIDE_BYTES = 16_384
const MAX_KEY_LENGTH = 4_096
/** A segment in place of a key, which is then in `?key=`. */
const PLACEHOLDER = '-'
const MAX_TOP = 1_000
const TOP = 20
/** An operator can wait longer than a request. */
const WAIT = { deadlineMs: 5_000 }

/** `GET /v1/keys?top=20`: the keys with the most requests since the start, over all processes. Pseudonyms replace the keys. */
export function topRoute(counted: ReadReports['top'], admission: Admission | undefined): Route {
  return guarded(admission, {
    GET: async (routed) => {
      const { response } = routed
      const text = parametersOf(routed, ['top']).get('top') ?? String(TOP)
      const top = /^\d{1,4}$/.test(text) ? Number(text) : 0
      const shown = JSON.stringify(text.slice(0, 60))
      if (top < 1 || top > MAX_TOP) throw new BadRequest(`top is ${shown}; expected a whole number from 1 to ${MAX_TOP}.`)
      sendJson(response, 200, { keys: busiest(await counted(), top) })
    },
  })
}

/**
 * `/v1/keys/:key`, `/v1/keys/:key/block` and `/v1/keys/:key/override` apply to every rule that has a key, or to the rule of `?limit=`. The
 * key may be in `?key=` instead, because clients remove the segments `.` and `..`, even percent-encoded.
 */
export function keyRoutes(engine: Engine, overrides: HeldOverrides, admission: Admission | undefined): Handler {
  const reply =
    (work: (target: KeyTarget, routed: Routed) => Promise<unknown>): Handler =>
    async (routed) => {
      const body = await work(targetOf(routed), routed).catch(refusedByStore)
      sendJson(routed.response, 200, body)
    }
  const key = guarded(admission, {
    GET: reply(async (target) => ({ states: await engine.inspectKey(target, WAIT), overrides: overridesOf(engine, target) })),
    DELETE: reply(async (target) => engine.resetKey(target, WAIT).then(() => ({ reset: true }))),
  })
  const block = guarded(admission, {
    PUT: reply(async (target, { request }) => {
      await engine.blockKey(target, durationIn(await readJson(request, MAX_DURATION_BYTES)), WAIT)
      return { blocked: true }
    }),
    DELETE: reply(async (target) => engine.blockKey(target, null, WAIT).then(() => ({ blocked: false }))),
  })
  const override = guarded(admission, {
    // The key keeps its remaining tokens, up to the new limit.
    PUT: reply(async (target, { request }) => {
      const fields = fieldsIn(await readJson(request, MAX_OVERRIDE_BYTES), target)
      await overrides.set(fields)
      return { overrides: overridesOf(engine, { key: target.key, limit: fields.rule }) }
    }),
    // Overrides in the policy stay.
    DELETE: reply(async (target) => ({ withdrawn: await overrides.withdraw(target) })),
  })
  const routes: ReadonlyMap<string | undefined, Route> = new Map([
    [undefined, key],
    ['block', block],
    ['override', override],
  ])
  return (routed) => {
    const [, , below, ...more] = routed.rest.split('/')
    const known = more.length > 0 ? undefined : routes.get(below)
    if (known === undefined)
      throw new Refusal(404, 'Below a key there are block and override, and nothing else; a slash in a key is written %2F.')
    return answer(known, routed)
  }
}

function targetOf(routed: Routed): KeyTarget {
  const { rest, request } = routed
  const query = parametersOf(routed, ['limit', 'key'])
  const written = rest.split('/')[1] as string
  const [limit, named] = [query.get('limit'), query.get('key')]
  if (named !== null && written !== PLACEHOLDER)
    throw new BadRequest(`The path and ?key= name two keys; expected /v1/keys/KEY or /v1/keys/${PLACEHOLDER}?key=KEY.`)
  const key = named === null ? decoded(written) : isReplaced(named, request.url) ? undefined : named
  if (key !== undefined && key !== '' && key.length <= MAX_KEY_LENGTH) return { key, ...(limit === null ? {} : { limit }) }
  throw new BadRequest(`The key is not percent-encoded UTF-8 of 1 to ${MAX_KEY_LENGTH} characters.`)
}

function decoded(written: string): string | undefined {
  try {
    return decodeURIComponent(written)
  } catch {
    return undefined
  }
}

/** The query parser replaces bytes that are not UTF-8 by U+FFFD. */
function isReplaced(text: string, url: string = ''): boolean {
  return text.includes('\ufffd') && !/%ef%bf%bd/i.test(url)
}

/** `{ "duration": "10m" }`, or milliseconds as a number. */
function durationIn(body: unknown): string | number {
  const expected = 'The body must be an object with duration alone: a text such as 10m, or milliseconds as a number.'
  const { duration, ...more } = objectOf(body, expected)
  if (Object.keys(more).length === 0 && (typeof duration === 'string' || typeof duration === 'number')) return duration
  throw new BadRequest(expected)
}

/** 503: the store cannot answer now. 501: it does not support the operation. */
function refusedByStore(error: unknown): never {
  if (error instanceof StoreFailure) throw new Refusal(503, `The store did not do it: ${error.message}.`)
  if (error instanceof LimiterError && error.code === 'NOT_SUPPORTED') throw new Refusal(501, error.message)
  throw error
}

function overridesOf(engine: Engine, target: KeyTarget): unknown[] {
  return engine.overridesOfKey(target).map(({ rule, key, limit, until, origin }) => ({
    rule,
    key,
    algorithm: limit.algorithm.name,
    limit: limit.capacity,
    windowMs: limit.windowMs,
    ...(until === undefined ? {} : { until: new Date(until / 1_000).toISOString() }),
    from: origin === 'set' ? 'put' : 'policy',
  }))
}

/** The engine validates the values. */
function fieldsIn(body: unknown, { key, limit }: KeyTarget): OverrideFields {
  const expected = 'The body must be an object with the fields of an override: rule, the fields of a limit, until.'
  const fields = { key, ...(limit === undefined ? {} : { rule: limit }), ...objectOf(body, expected) } as OverrideFields
  if (limit !== undefined && fields.rule !== limit) throw new BadRequest('The field rule and ?limit= name two rules; expected one of them.')
  const values: readonly unknown[] = Array.isArray(fields.key) ? fields.key : [fields.key]
  if (values.some((value) => (typeof value === 'number' ? String(value) : value) === key)) return fields
  throw new BadRequest(
    'The field key does not have the key of the path in it; expected a list of all values of the key, null for absent ones.',
  )
}
