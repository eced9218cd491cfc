import { type Form, OBJECT, requireForm, TEXT, TEXTS } from '../errors/options.ts'
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
  readonly method: string
  /** The request target as received: query, absolute form and unusual spellings are fine. */
  readonly path: string
  readonly headers: Headers
  /**
   * Names and values alternating, one pair for each line, as node has them. They distinguish a field on several lines from a value with a
   * comma. Without them a comma counts as several lines, unless the field is a list of lines.
   */
  readonly rawHeaders?: readonly string[] | null | undefined
  /** The address of the socket's peer. If the peer is trusted, forwarding headers are read in addition. */
  readonly ip?: string | null | undefined
  readonly claims?: Claims | null | undefined
  /** What this request costs, instead of the rules' cost. */
  readonly cost?: number
  /** The matched route as a pattern, for metrics. */
  readonly route?: string | null | undefined
}

export interface Request extends ReadPath, HeaderFields {
  readonly method: string
  readonly query: string
  /** AMBIGUOUS if there are several hosts, or if the Host is not valid. */
  readonly host: string | undefined
  /** Present if there are several. */
  readonly hosts?: readonly string[] | undefined
  /** The client's address in canonical form. */
  readonly address: string | undefined
  /** The address by prefix, as in keys. */
  readonly network: string | undefined
  readonly trustedPeer: boolean
  readonly claims: Claims | undefined
}

/** Refuses a fetch Headers object: it has no fields of its own, so all would seem absent. */
const HEADERS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly get?: unknown }).get !== 'function',
  'an object of header fields by lower-case name, such as Object.fromEntries(request.headers)',
]
/** Refuses a promise that was not awaited: it has no claims. */
const CLAIMS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly then?: unknown }).then !== 'function',
  'an object of claims, not a promise of them',
]

/** @throws LimiterError INVALID_OPTIONS */
export function requireClaims(claims: unknown): void {
  requireUnlessAbsent('claims', claims, CLAIMS)
}

/** Accepts null, because programs pass `request.ip ?? null`. */
function requireUnlessAbsent(name: string, value: unknown, form: Form): void {
  if (value !== undefined && value !== null) requireForm('facts', name, value, form)
}

function requireFacts({ method, path, headers, ip, rawHeaders, claims, route }: RequestFacts): void {
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
