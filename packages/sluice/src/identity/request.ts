import { LimiterError } from '../errors/limiter-error.ts'
import { groupAddress } from './address.ts'
import { clientAddress, headerText, type Headers, isTrustedPeer } from './client-address.ts'
import { normalizePathExactly, queryOf } from './path.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Claims of a token that was verified, here or by whoever hands them in; unverified ones do not belong here. */
export type Claims = Readonly<Record<string, unknown>>

/** What is known of a request, as an adapter hands it over. */
export interface RequestFacts {
  readonly method: string
  /** The request target as it came: query, absolute form and odd spellings are fine. */
  readonly path: string
  readonly headers: Headers
  /** The peer's address, that of the socket; forwarding headers are read on top of it where the peer is trusted. */
  readonly ip?: string
  readonly claims?: Claims
  /** What this request costs, instead of what the rules say. */
  readonly cost?: number
  /** The matched route as a pattern, for metrics. */
  readonly route?: string
}

/** The same facts, read once and in one spelling. */
export interface Request {
  readonly method: string
  /** Normalised and in lower case: routers differ on case, so rules do not tell cases apart. */
  readonly path: string
  /** As `path`, with its case and a slash at its end, for policies that tell these apart. */
  readonly exactPath: string
  readonly query: string
  readonly host: string | undefined
  readonly headers: Headers
  /** The client's address in its one spelling. */
  readonly address: string | undefined
  /** The address by prefix, as keys use it. */
  readonly network: string | undefined
  readonly trustedPeer: boolean
  readonly claims: Claims | undefined
}

/** @throws LimiterError INVALID_OPTIONS where method, path or headers are missing */
export function readRequest(facts: RequestFacts, claims: Claims | undefined, trust: TrustedProxies): Request {
  const { method, path, headers, ip } = facts
  if (typeof method !== 'string' || typeof path !== 'string' || typeof headers !== 'object' || headers === null) {
    throw new LimiterError('INVALID_OPTIONS', 'the facts of a request need method, path and headers')
  }
  const exactPath = normalizePathExactly(path)
  const address = clientAddress(ip, headers, trust)
  return {
    method: method.toUpperCase(),
    path: (exactPath.length > 1 && exactPath.endsWith('/') ? exactPath.slice(0, -1) : exactPath).toLowerCase(),
    exactPath,
    query: queryOf(path),
    host: hostOf(headers),
    headers,
    address,
    network: address === undefined ? undefined : groupAddress(address),
    trustedPeer: isTrustedPeer(ip, trust),
    claims,
  }
}

/** The Host field in lower case, without port and final dot. It is the client's word. */
function hostOf(headers: Headers): string | undefined {
  const text = headerText(headers, ':authority') ?? headerText(headers, 'host')
  return text?.trim().toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}
