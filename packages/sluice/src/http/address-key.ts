import { groupAddress } from '../identity/address.ts'
import { clientAddress } from '../identity/client-address.ts'
import type { Headers } from '../identity/header-field.ts'
import { readTrustedProxies, type TrustedProxies } from '../identity/trusted-proxies.ts'

/** Peers whose key is remembered; a flood of addresses starts over. */
const MAX_PEERS = 4_096
const NOTHING: Headers = {}

/** The key of a request by its client's address; headers are asked for only where a proxy may be trusted. */
export type AddressKey = (peer: string | undefined, headers: () => Headers) => string

/** @throws LimiterError INVALID_ADDRESS for a wrong proxy */
export function addressKeys(proxies: readonly string[] | TrustedProxies): AddressKey {
  const trust = readTrustedProxies('rateLimit', proxies)
  const direct = 'length' in proxies && proxies.length === 0
  const keys = new Map<string, string>()
  return (peer, headersOf) => {
    if (peer === undefined) return UNKNOWN
    const headers = direct ? NOTHING : headersOf()
    if (headers[trust.source] !== undefined) return keyOf(clientAddress(peer, headers, trust))
    const known = keys.get(peer)
    if (known !== undefined) return known
    const key = keyOf(clientAddress(peer, NOTHING, trust))
    if (keys.size >= MAX_PEERS) keys.clear()
    keys.set(peer, key)
    return key
  }
}

/** A peer without an address (a Unix socket) is its own, named identity, never an empty key. */
const UNKNOWN = 'address-unknown'

function keyOf(address: string | undefined): string {
  return address === undefined ? UNKNOWN : groupAddress(address)
}
