import { type Form, OBJECT, requireForm } from '../errors/options.ts'
import { headerField, type Headers } from './header-field.ts'
import { formatAddress } from './address.ts'
import { hopsOf, parseZoned } from './forwarding.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

const PEER: Form = [(value) => value === undefined || value === null || typeof value === 'string', 'the text of an address, or nothing']
const TRUST: Form = [(value) => typeof (value as TrustedProxies | null | undefined)?.trusts === 'function', 'what trustProxies gave']

/**
 * The client's address in canonical form; undefined if there is none (a socket of the file system, or closed). It is the peer, unless the
 * peer is trusted. Then the header is read from the right, and the first hop that is not trusted is the client. An unreadable hop ends the
 * search at the hop to its right. That may be coarse, but the client cannot choose it.
 * @param peer null counts as absent
 * @throws LimiterError INVALID_OPTIONS for arguments of another type
 */
export function clientAddress(peer: string | null | undefined, headers: Headers, trust: TrustedProxies): string | undefined {
  requireForm('clientAddress', 'peer', peer, PEER)
  requireForm('clientAddress', 'headers', headers, OBJECT)
  requireForm('clientAddress', 'trust', trust, TRUST)
  const start = typeof peer === 'string' ? parseZoned(peer) : undefined
  if (start === undefined) return undefined
  let client = start
  const header = headerText(headers, trust.source)
  if (header !== undefined && trust.trusts(start)) {
    for (const hop of hopsOf(trust.source, header)) {
      if (hop === undefined) break
      client = hop
      if (!trust.trusts(hop)) break
    }
  }
  return formatAddress(client)
}

/**
 * Whether the peer itself is a trusted proxy, so that its other headers may be trusted as well.
 * @throws LimiterError INVALID_OPTIONS
 */
export function isTrustedPeer(peer: string | null | undefined, trust: TrustedProxies): boolean {
  requireForm('isTrustedPeer', 'peer', peer, PEER)
  requireForm('isTrustedPeer', 'trust', trust, TRUST)
  const address = typeof peer === 'string' ? parseZoned(peer) : undefined
  return address !== undefined && trust.trusts(address)
}

/** A header field as one text, with repeated fields joined as HTTP joins them; undefined if it is missing. */
function headerText(headers: Headers, name: string): string | undefined {
  const value = headerField(headers, name)
  if (typeof value === 'string') return value
  return value !== undefined && value.length > 0 ? value.join(', ') : undefined
}
