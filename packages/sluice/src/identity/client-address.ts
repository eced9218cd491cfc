import { formatAddress } from './address.ts'
import { hopsOf, parseZoned } from './forwarding.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** Header fields by lower-case name; a repeated one as a list or joined by commas. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * The client's address in its one spelling, or undefined where there is none (a socket of the file system, or gone). It is the
 * peer, unless the peer is trusted; then the header is walked from the right, and the first hop that is not trusted is the
 * client. A hop that cannot be read ends the walk at the nearest hop to its right: coarse, and never the client's choice.
 */
export function clientAddress(peer: string | undefined, headers: Headers, trust: TrustedProxies): string | undefined {
  const start = peer === undefined ? undefined : parseZoned(peer)
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

/** Whether the peer itself is a trusted proxy: what it says in other headers may then be believed as well. */
export function isTrustedPeer(peer: string | undefined, trust: TrustedProxies): boolean {
  const address = peer === undefined ? undefined : parseZoned(peer)
  return address !== undefined && trust.trusts(address)
}

/** A header field as one text, repeated ones joined as HTTP joins them; undefined where it is missing. */
function headerText(headers: Headers, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.length > 0 ? value.join(', ') : undefined
}
