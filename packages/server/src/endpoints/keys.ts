import { LimiterError, StoreFailure } from 'sluice'
import type { Engine, KeyTarget } from 'sluice/policy'
import { type Admission, guarded } from '../http/admin.ts'
import { BadRequest, Refusal, sendJson } from '../http/answer.ts'
import { readJson } from '../http/body.ts'
import { busiest, type Counted } from '../page/busiest-keys.ts'
import type { HeldOverrides } from '../policy/held-overrides.ts'
import { type Asked, type Handler, handlerOf, type Route } from '../http/routes.ts'
import { deleteOverride, overridesOf, putOverride } from './override.ts'

const LARGEST_BODY = 4_096
const MAX_KEY_LENGTH = 4_096
/** Path segment that means: the key is in `?key=`. */
const PLACEHOLDER = '-'
const MAX_TOP = 1_000
const TOP = 20
/** Operators wait longer than requests do; the policy's deadline is for requests. */
const PATIENCE = { deadlineMs: 5_000 }

/** `GET /v1/keys?top=20`: the keys with the most requests since the start, by pseudonym, over all processes. */
export function topRoute(counted: () => Promise<readonly Counted[]>, admission: Admission | undefined): Route {
  return guarded(admission, {
    GET: async ({ query, response }) => {
      const text = query.get('top') ?? String(TOP)
      const top = /^\d{1,4}$/.test(text) ? Number(text) : 0
      if (top < 1 || top > MAX_TOP)
        throw new BadRequest(`top is ${JSON.stringify(text.slice(0, 60))}; expected a whole number from 1 to ${MAX_TOP}.`)
      sendJson(response, 200, { keys: busiest(await counted(), top) })
    },
  })
}

/**
 * `/v1/keys/:key` (GET: its state, DELETE: forget it), `/v1/keys/:key/block` (PUT a duration, DELETE to lift it) and
 * `/v1/keys/:key/override` (PUT another limit, DELETE to remove it). They apply to every rule that has a key, or to the rule of
 * `?limit=`. The key is one path segment, percent-encoded. With the segment `-` it is that of `?key=`, because clients remove `.` and
 * `..` from a path, encoded or not.
 */
export function keyRoutes(engine: Engine, overrides: HeldOverrides, admission: Admission | undefined): Handler {
  const key = guarded(admission, {
    GET: async (asked) => {
      const target = targetOf(asked)
      const states = await orFailed(engine.inspectKey(target, PATIENCE))
      sendJson(asked.response, 200, { states, overrides: overridesOf(engine, target) })
    },
    DELETE: async (asked) => {
      await orFailed(engine.resetKey(targetOf(asked), PATIENCE))
      sendJson(asked.response, 200, { reset: true })
    },
  })
  const block = guarded(admission, {
    PUT: async (asked) => {
      const target = targetOf(asked)
      await orFailed(engine.blockKey(target, await readDuration(asked), PATIENCE))
      sendJson(asked.response, 200, { blocked: true })
    },
    DELETE: async (asked) => {
      await orFailed(engine.blockKey(targetOf(asked), null, PATIENCE))
      sendJson(asked.response, 200, { blocked: false })
    },
  })
  const override = guarded(admission, {
    PUT: (asked) => putOverride(engine, overrides, targetOf(asked), asked),
    DELETE: (asked) => deleteOverride(overrides, targetOf(asked), asked),
  })
  const routes: ReadonlyMap<string | undefined, Route> = new Map([
    [undefined, key],
    ['block', block],
    ['override', override],
  ])
  return (asked) => {
    const [, , below, ...more] = asked.rest.split('/')
    const route = more.length > 0 ? undefined : routes.get(below)
    if (route === undefined)
      throw new Refusal(404, 'Not Found', 'Below a key there are block and override, and nothing else; a slash in a key is written %2F.')
    return handlerOf(route, asked)()
  }
}

function targetOf({ rest, query, request }: Asked): KeyTarget {
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

/** Whether the query parser replaced bytes that are not UTF-8 by U+FFFD. */
function isReplaced(text: string, url: string = ''): boolean {
  return text.includes('\ufffd') && !/%ef%bf%bd/i.test(url)
}

/** Reads `{ "duration": "10m" }`, or milliseconds as a number. */
async function readDuration({ request }: Asked): Promise<string | number> {
  const body = await readJson(request, LARGEST_BODY)
  const fields = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {}
  const { duration } = fields
  if (Object.keys(fields).join() === 'duration' && (typeof duration === 'string' || typeof duration === 'number')) return duration
  throw new BadRequest('The body must be an object with duration alone: a text such as 10m, or milliseconds as a number.')
}

/**
 * Converts failures: a store that cannot answer now is 503, one that does not support the operation is 501. Neither is the caller's
 * mistake.
 */
async function orFailed<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof StoreFailure) throw new Refusal(503, 'Service Unavailable', `The store did not do it: ${error.message}.`)
    if (error instanceof LimiterError && error.code === 'NOT_SUPPORTED') throw new Refusal(501, 'Not Implemented', error.message)
    throw error
  }
}
