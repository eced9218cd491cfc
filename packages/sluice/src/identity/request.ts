import { type Form, OBJECT, refuseUnknown, requireForm, TEXT, TEXTS } from '../errors/options.ts'
import { groupAddress } from './address.ts'
import { AMBIGUOUS, type HeaderFields, type Headers } from './headers.ts'
import { clientAddress, isTrustedPeer } from './client-address.ts'
import { hostsOf } from './host.ts'
import { queryOf } from './path.ts'
import { readPath, type ReadPath } from './path-readings.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Claims of a verified token. The caller must have verified them; never pass unverified claims. */
export type Claims = Readonly<Record<string, unknown>>

/** What an adapter knows of a request. For optional fields null counts as absent. */
export interface RequestFacts {
  /** The method, in any case; HEAD counts as GET. */
  readonly method: string
  /** The request target as received. It may have a query, the absolute form or an unusual spelling. */
  readonly path: string
  /** Header fields by lower-case name, as node's `request.headers`; of a `Headers` object use `Object.fromEntries(request.headers)`. */
  readonly headers: Headers
  /**
   * Names and values alternating, one pair for each header line, as in node's `rawHeaders`. They distinguish a field on several lines from
   * a value with a comma. Without them a value with a comma counts as several lines, unless the field is a list of lines.
   */
  readonly rawHeaders?: readonly string[] | null | undefined
  /** The address of the socket's peer. If the peer is trusted, forwarding headers are read in addition. */
  readonly ip?: string | null | undefined
  /** Claims of a token that the caller has verified. If present, the engine's function `claims` is not called. */
  readonly claims?: Claims | null | undefined
  /** The cost of this request, instead of the rules' cost. */
  readonly cost?: number
  /** The matched route as a pattern, for metrics. */
  readonly route?: string | null | undefined
}

export interface Request extends ReadPath, HeaderFields {
  readonly method: string
  readonly query: string
  /** AMBIGUOUS if there are several hosts, or if the Host is not valid. */
  readonly host: string | undefined
  /** All hosts, if the request names several. */
  readonly hosts?: readonly string[] | undefined
  /** The client's address in canonical form. */
  readonly address: string | undefined
  /** The address as keys contain it: grouped by prefix. */
  readonly network: string | undefined
  readonly trustedPeer: boolean
  readonly claims: Claims | undefined
}

/** Refuses a fetch Headers object. It has no own properties, so every header would seem absent. */
const HEADERS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly get?: unknown }).get !== 'function',
  'an object of header fields by lower-case name, such as Object.fromEntries(request.headers)',
]
/** Refuses a promise that was not awaited, because it would seem to have no claims. */
export const CLAIMS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly then?: unknown }).then !== 'function',
  'an object of claims, not a promise of them',
]

/** @throws LimiterError INVALID_OPTIONS */
export function requireClaims(claims: unknown): void {
  requireUnlessAbsent('claims', claims, CLAIMS)
}

/** Checks a value unless it is absent. Null counts as absent, because programs pass `request.ip ?? null`. */
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

/** @throws LimiterError INVALID_OPTIONS for facts that are missing or of another type */
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
