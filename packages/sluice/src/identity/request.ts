import { type Form, OBJECT, requireForm, TEXT, TEXTS } from '../errors/options.ts'
import { groupAddress } from './address.ts'
import { AMBIGUOUS } from './ambiguous.ts'
import { clientAddress, isTrustedPeer } from './client-address.ts'
import type { Headers } from './header-field.ts'
import type { HeaderFields } from './header-lines.ts'
import { hostsOf } from './host.ts'
import { queryOf } from './path.ts'
import { readPath, type ReadPath } from './path-readings.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Claims of a token that was verified, here or by whoever hands them in; unverified ones do not belong here. */
export type Claims = Readonly<Record<string, unknown>>

/** What is known of a request, as an adapter hands it over. Of what may be absent null counts as absent. */
export interface RequestFacts {
  readonly method: string
  /** The request target as it came: query, absolute form and odd spellings are fine. */
  readonly path: string
  readonly headers: Headers
  /**
   * Names and values in turn, one pair for each line, as node has them. They tell a field that stood on several lines from one whose value has
   * a comma; without them a comma is taken for several lines, unless the field is a list of them.
   */
  readonly rawHeaders?: readonly string[] | null | undefined
  /** The peer's address, that of the socket; forwarding headers are read on top of it where the peer is trusted. */
  readonly ip?: string | null | undefined
  readonly claims?: Claims | null | undefined
  /** What this request costs, instead of what the rules say. */
  readonly cost?: number
  /** The matched route as a pattern, for metrics. */
  readonly route?: string | null | undefined
}

/** The same facts, read once and in one spelling. */
export interface Request extends ReadPath, HeaderFields {
  readonly method: string
  readonly query: string
  /** AMBIGUOUS where there are several, and where the Host is not a host. */
  readonly host: string | undefined
  /** Present where there are several. */
  readonly hosts?: readonly string[] | undefined
  /** The client's address in its one spelling. */
  readonly address: string | undefined
  /** The address by prefix, as keys use it. */
  readonly network: string | undefined
  readonly trustedPeer: boolean
  readonly claims: Claims | undefined
}

/** A Headers object of fetch has no fields of its own: they would all be absent. */
const HEADERS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly get?: unknown }).get !== 'function',
  'an object of header fields by lower-case name, such as Object.fromEntries(request.headers)',
]
/** A promise that was not awaited has no claims. */
const CLAIMS: Form = [
  (value) => OBJECT[0](value) && typeof (value as { readonly then?: unknown }).then !== 'function',
  'an object of claims, not a promise of them',
]

/** @throws LimiterError INVALID_OPTIONS */
export function requireClaims(claims: unknown): void {
  requireUnlessAbsent('claims', claims, CLAIMS)
}

/** Programs hand over `request.ip ?? null`. */
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

/** @throws LimiterError INVALID_OPTIONS where facts are missing or of another kind */
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
