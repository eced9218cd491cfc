import { groupAddress } from '../identity/address.ts'
import { clientAddress } from '../identity/client-address.ts'
import type { Headers } from '../identity/headers.ts'
import { readTrustedProxies, type TrustedProxies } from '../identity/trusted-proxies.ts'

/** The most peers whose key is cached. When it is reached, the cache is cleared. */
const MAX_PEERS = 4_096
const NOTHING: Headers = {}

/** The key of a request by its client's address. Calls `headers` only if a proxy may be trusted. */
export type AddressKey = (peer: string | undefined, headers: () => Headers) => string

/** @throws LimiterError INVALID_ADDRESS for an invalid proxy */
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

/** The identity of all peers without an address (a Unix socket), because a key is never empty. */
const UNKNOWN = 'address-unknown'

function keyOf(address: string | undefined): string {
  return address === undefined ? UNKNOWN : groupAddress(address)
}
