import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'

/** Names and values of header fields, with the spelling of the server. */
export type Fields = readonly (readonly [name: string, value: string])[]

export interface Answered {
  readonly status: number
  /** The fields that concern a limit, and no others. */
  readonly fields: Fields
}

/** The path of all requests of the suite `http`. */
export const TARGET = '/api/items/7'

const OF_LIMITS = /^(?:x-)?ratelimit(?:-|$)|^(?:retry-after|cache-control)$/i

/**
 * What every contestant should report, and the header fields of which one is enough. Later drafts have a combined field `RateLimit`, so it
 * stands for several of these.
 */
const REPORTS: readonly (readonly [what: string, fields: RegExp, status?: number])[] = [
  ['limit', /^(?:x-)?ratelimit-(?:limit|policy)$/i],
  ['remaining', /^(?:x-)?ratelimit(?:-remaining)?$/i],
  ['reset', /^(?:(?:x-)?ratelimit-reset|ratelimit)$/i],
  ['policy', /^ratelimit-policy$/i],
  ['Retry-After', /^retry-after$/i, 429],
  ['Cache-Control', /^cache-control$/i, 429],
]

/** The answer to a request for `TARGET`, without what the framework itself sends. */
export async function answerOf(port: number): Promise<Answered> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path: TARGET }), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  const { rawHeaders, statusCode = 0 } = response
  const pairs = rawHeaders.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, rawHeaders[at + 1] as string]] : []))
  return { status: statusCode, fields: pairs.filter(([name]) => OF_LIMITS.test(name)) }
}

/** What the fields of an answer do not report, in words. */
export function lacking({ status, fields }: Answered): string[] {
  const wanted = REPORTS.filter(([, , only]) => only === undefined || only === status)
  return wanted.flatMap(([what, names]) => (fields.some(([name]) => names.test(name)) ? [] : [what]))
}
