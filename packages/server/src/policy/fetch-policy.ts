import { type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { isUtf8 } from 'node:buffer'
import { isLoopback } from '../http/port.ts'
import type { PolicySource } from './read-policy.ts'

/** Milliseconds for a whole fetch, redirects included. */
const MAX_MS = 10_000
/** The most bytes of a policy, as for files. */
const MAX_BYTES = 1_048_576
const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface FetchOptions {
  /** Certificates of authorities; undefined: those of Node.js. */
  readonly ca: Buffer | undefined
  /** Read at every fetch, because tokens in files are renewed. Undefined: no token is sent. */
  readonly token: (() => string) | undefined
  /** Default ten seconds. */
  readonly maxMs?: number
}

/** ETag and Last-Modified of an answer, for the next conditional request. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

export interface FetchedPolicy {
  readonly text: PolicySource
  readonly format: 'json' | undefined
  readonly validators: Validators
}

/** Thrown for an answer that is not a policy. Without an answer, `fetchPolicy` throws the connection's error. */
export class WrongAnswer extends Error {}

/** By https, or by http from this machine. */
export function isAllowed({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')))
}

/**
 * Undefined if the policy has not changed since `validators`. The token is sent only to the URL's own origin.
 * @throws WrongAnswer for an answer that is not a policy or is larger than 1 MiB; Error if there is no answer in time
 */
export async function fetchPolicy(url: URL, options: FetchOptions, validators: Validators = {}): Promise<FetchedPolicy | undefined> {
  const { maxMs = MAX_MS } = options
  const signal = AbortSignal.timeout(maxMs)
  try {
    return await followed(url, options, validators, signal)
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${maxMs / 1_000} s`, { cause: error })
    throw error
  }
}

/** An AggregateError (a host with several addresses) has no reason; its errors have one each. */
export function reasonOf(error: Error): string {
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : [error]
  return (first ?? error).message.replace(/\s+/g, ' ')
}

async function followed(url: URL, { ca, token }: FetchOptions, validators: Validators, signal: AbortSignal) {
  let [place, left] = [url, MAX_REDIRECTS]
  for (;;) {
    const bearer = place.origin === url.origin ? token?.() : undefined
    const response = await answerOf(place, headersOf(validators, bearer), ca, signal)
    const { statusCode: status = 0, headers } = response
    if (!REDIRECTS.has(status)) return read(response, validators, token !== undefined)
    response.resume()
    const target =
      headers.location !== undefined && URL.canParse(headers.location, place.href) ? new URL(headers.location, place) : undefined
    if (target === undefined) throw new WrongAnswer(`it answered ${status} without the URL of a redirect`)
    if (left === 0) throw new WrongAnswer(`it redirected more than ${MAX_REDIRECTS} times`)
    if (!isAllowed(target) || (place.protocol === 'https:' && target.protocol !== 'https:') || target.username + target.password !== '')
      throw new WrongAnswer(`it redirected to ${target.origin}: expected https://... without a login`)
    place = target
    left -= 1
  }
}

function headersOf({ etag, lastModified }: Validators, bearer: string | undefined): Record<string, string> {
  return {
    Accept: 'application/yaml, application/json, text/*;q=0.9, */*;q=0.1',
    'Accept-Encoding': 'identity',
    'User-Agent': 'sluice',
    ...(etag === undefined ? {} : { 'If-None-Match': etag }),
    ...(etag !== undefined || lastModified === undefined ? {} : { 'If-Modified-Since': lastModified }),
    ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
  }
}

function answerOf(place: URL, headers: Record<string, string>, ca: Buffer | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A pooled connection may have been closed since the previous fetch.
    const options = { headers, signal, agent: false as const }
    const sent = place.protocol === 'https:' ? overHttps(place, { ...options, ca }) : overHttp(place, options)
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.end()
  })
}

async function read(response: IncomingMessage, sent: Validators, authorized: boolean): Promise<FetchedPolicy | undefined> {
  const { statusCode: status = 0, headers } = response
  try {
    if (status === 304 && Object.keys(sent).length > 0) return undefined
    if (status !== 200) throw new WrongAnswer(`it answered ${status}${adviceOn(status, authorized)}`)
    const { etag, 'last-modified': lastModified, 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers
    if (coding !== 'identity') throw new WrongAnswer(`it sent Content-Encoding ${coding}: expected none`)
    if (/^text\/html\b/i.test(type)) throw new WrongAnswer('it sent a web page (text/html): expected YAML or JSON')
    // A truncated answer without a length looks complete, and a truncated list of rules is valid YAML with fewer rules.
    if (headers['content-length'] === undefined && !/\bchunked\s*$/i.test(headers['transfer-encoding'] ?? ''))
      throw new WrongAnswer('it sent neither Content-Length nor Transfer-Encoding: chunked: expected one, because the answer may be cut')
    const bytes = await contentsOf(response)
    return {
      text: isUtf8(bytes) ? bytes.toString('utf8') : bytes,
      format: /^application\/(?:[\w.-]+\+)?json\b/i.test(type) ? 'json' : undefined,
      validators: { ...(etag === undefined ? {} : { etag }), ...(lastModified === undefined ? {} : { lastModified }) },
    }
  } finally {
    response.destroy()
  }
}

function adviceOn(status: number, authorized: boolean): string {
  if (status !== 401 && status !== 403) return ''
  return authorized ? ' to the token of --policy-token-file' : ': does it need --policy-token-file?'
}

async function contentsOf(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of response) {
    size += (part as Buffer).length
    if (size > MAX_BYTES) throw new WrongAnswer(`its answer is larger than ${MAX_BYTES} bytes`)
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts, size)
}
