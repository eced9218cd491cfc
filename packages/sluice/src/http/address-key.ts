import { groupAddress } from '../identity/address.ts'
import { clientAddress } from '../identity/client-address.ts'
import type { Headers } from '../identity/headers.ts'
import type { OnWarning } from '../errors/console-warning.ts'
import { watchProxies } from '../identity/unnamed-proxy.ts'
import { readTrustedProxies, type TrustedProxies } from '../identity/trusted-proxies.ts'

/** The most peers whose key is cached. A full cache is cleared. */
const MAX_PEERS = 4_096
const NOTHING: Headers = {}
/**
 * If the option `trustedProxies` is absent, the headers of this many first requests are read, to warn of a proxy that should be named
 * there. Later, only headers of new peers are read, because reading headers takes more time than the rest of the check.
 */
const FIRST_REQUESTS = 1_000

/** The key of a request by its client's address. Calls `headers` only to find the client behind a trusted proxy, or to warn of a proxy. */
export type AddressKey = (peer: string | undefined, headers: () => Headers) => string

/**
 * Makes the function that returns keys.
 * @param proxies undefined: no proxy is trusted, and a warning is given if there seems to be one
 * @param ipv6Prefix how many bits of an IPv6 address distinguish clients
 * @throws LimiterError INVALID_ADDRESS for an invalid proxy
 */
export function addressKeys(
  proxies: readonly string[] | TrustedProxies | undefined,
  ipv6Prefix?: number,
  onWarning?: OnWarning,
): AddressKey {
  const keyOf = (address: string | undefined): string => (address === undefined ? UNKNOWN : groupAddress(address, 32, ipv6Prefix))
  const trust = readTrustedProxies('rateLimit', proxies === undefined ? [] : proxies)
  const watch = watchProxies('rateLimit', proxies === undefined ? undefined : trust, onWarning)
  const direct = trust.isEmpty === true
  let toWatch = direct && watch !== undefined ? FIRST_REQUESTS : 0
  const keys = new Map<string, string>()
  return (peer, headersOf) => {
    if (peer === undefined) return UNKNOWN
    if (!direct) {
      const headers = headersOf()
      if (headers[trust.source] !== undefined) {
        watch?.(peer, headers)
        return keyOf(clientAddress(peer, headers, trust))
      }
    } else if (toWatch > 0) {
      toWatch -= 1
      watch?.(peer, headersOf())
    }
    const known = keys.get(peer)
    if (known !== undefined) return known
    if (direct) watch?.(peer, headersOf())
    const key = keyOf(clientAddress(peer, NOTHING, trust))
    if (keys.size >= MAX_PEERS) keys.clear()
    keys.set(peer, key)
    return key
  }
}

/** The key that all requests without a client address share, such as those over a Unix socket. */
const UNKNOWN = 'address-unknown'
