import { type Form, OBJECT, refuseUnknown, requireForm, TEXT, TEXTS } from '../errors/options.ts'
import { groupAddress } from './address.ts'
import { AMBIGUOUS, type HeaderFields, type Headers } from './headers.ts'
import { clientAddress, isTrustedPeer } from './client-address.ts'
import { hostsOf } from './host.ts'
import { queryOf } from './path.ts'
import { readPath, type ReadPath } from './path-readings.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Claims of a token. The caller must have verified them: never pass unverified claims. */
export type Claims = Readonly<Record<string, unknown>>

/** What an adapter knows of a request. Null counts as absent. */
export interface RequestFacts {
  /** The method, in any case; HEAD counts as GET. */
  readonly method: string
  /** The request target as received, in any spelling, with its query. */
  readonly path: string
  /** As node's `request.headers`; of a `Headers` object use `Object.fromEntries(request.headers)`. */
  readonly headers: Headers
  /**
   * Names and values alternating, by line, as in node's `rawHeaders`. Without them, a value in `headers` with a comma counts as several
   * lines; each element of an array is one line.
   */
  readonly rawHeaders?: readonly string[] | null | undefined
  /** The socket's peer; if trusted, forwarding headers are read. */
  readonly ip?: string | null | undefined
  /** Verified claims. If present, the engine's function `claims` is not called. */
  readonly claims?: Claims | null | undefined
  /** The cost of this request, instead of the rules' cost. */
  readonly cost?: number | undefined
  /** The matched route as a pattern, for metrics. */
  readonly route?: string | null | undefined
}

export interface Request extends ReadPath, HeaderFields {
  readonly method: string
  readonly query: string
  /** AMBIGUOUS if there are several hosts or an invalid one. */
  readonly host: string | undefined
  /** All hosts, if the request names several. */
  readonly hosts?: readonly string[] | undefined
  readonly address: string | undefined
  /** Grouped by prefix, as in keys. */
  readonly network: string | undefined
  readonly trustedPeer: boolean
  readonly claims: Claims | undefined
}

/** A fetch Headers object has no own properties: every header would seem absent. */
const HEADERS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly get?: unknown }).get !== 'function',
  'an object of header fields by lower-case name, such as Object.fromEntries(request.headers)',
]
/** A promise that was not awaited would have no claims. */
export const CLAIMS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly then?: unknown }).then !== 'function',
  'an object of claims, not a promise of them',
]

/** @throws LimiterError INVALID_OPTIONS */
export function requireClaims(claims: unknown): void {
  requireUnlessAbsent('claims', claims, CLAIMS)
}

/** Null counts as absent, because programs pass `request.ip ?? null`. */
function requireUnlessAbsent(name: string, value: unknown, form: Form): void {
  if (value !== undefined && value !== null) requireForm('facts', name, value, form)
}

const FACTS: readonly string[] = ['method', 'path', 'headers', 'rawHeaders', 'ip', 'claims', 'cost', 'route']

function requireFacts(facts: RequestFacts): void {
  const { method, path, headers, ip, rawHeaders, claims, route } = facts
  refuseUnknown('facts', facts, FACTS)
  requireForm('facts', 'method', method, TEXT)
  requireForm('facts', 'path', path, TEXT)
  requireForm('facts', 'headers', headers, HEADERS)
  requireUnlessAbsent('ip', ip, TEXT)
  requireUnlessAbsent('rawHeaders', rawHeaders, TEXTS)
  requireClaims(claims)
  requireUnlessAbsent('route', route, TEXT)
}

/** @throws LimiterError INVALID_OPTIONS for missing or invalid facts */
export function readRequest(facts: RequestFacts, claims: Claims | null | undefined, trust: TrustedProxies): Request {
  requireFacts(facts)
  const { method, path, headers, ip } = facts
  const rawHeaders = facts.rawHeaders ?? undefined
  const address = clientAddress(ip, headers, trust)
  const hosts = hostsOf({ headers, rawHeaders })
  const read = readPath(path)
  return {
    method: method.toUpperCase(),
    path: read.path,
    exactPath: read.exactPath,
    readings: read.readings,
    unreadable: read.unreadable,
    query: queryOf(path),
    host: hosts.length > 1 ? AMBIGUOUS : hosts[0],
    hosts: hosts.length > 1 ? hosts : undefined,
    headers,
    rawHeaders,
    address,
    network: address === undefined ? undefined : groupAddress(address),
    trustedPeer: isTrustedPeer(ip, trust),
    claims: claims ?? undefined,
  }
}
