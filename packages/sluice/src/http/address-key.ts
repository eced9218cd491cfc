import { groupAddress } from '../identity/address.ts'
import { clientAddress } from '../identity/client-address.ts'
import type { Headers } from '../identity/headers.ts'
import type { OnWarning } from '../errors/console-warning.ts'
import { watchProxies } from '../identity/unnamed-proxy.ts'
import { readTrustedProxies, type TrustedProxies } from '../identity/trusted-proxies.ts'

const MAX_PEERS = 4_096
const NOTHING: Headers = {}
/** How many first requests are watched for a proxy that `trustedProxies` should name. */
const FIRST_REQUESTS = 1_000

/** The rate limit key of a request, by its client's address. `headers` is called only when needed, because reading headers is slow. */
export type AddressKey = (peer: string | undefined, headers: () => Headers) => string

/**
 * If `proxies` is undefined, no proxy is trusted, and a warning is given if there seems to be one.
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

/** For requests without a client address, such as those over a Unix socket. */
const UNKNOWN = 'address-unknown'
