import { attempt, LimiterError } from '../errors/limiter-error.ts'
import { shown } from '../errors/options.ts'
import type { Address } from './address.ts'
import { createNetworkSet, type Network, type NetworkSet, parseNetwork } from './network.ts'

/** Peers that may report the client's address, and their header. */
export interface TrustedProxies {
  /** The header that is read, in lower case: `x-forwarded-for`, `forwarded`, or one with a single address. */
  readonly source: string
  /** Whether a peer with this address may report the client. */
  trusts(address: Address): boolean
  /** True if nobody is trusted, because clients connect directly. */
  readonly isEmpty?: boolean
}

const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

export const TRUST_FORM = 'an address, a network such as 10.0.0.0/8, or one of loopback, linklocal, uniquelocal'

/** @throws LimiterError INVALID_OPTIONS, or INVALID_ADDRESS for an invalid entry */
export function readTrustedProxies(where: string, proxies: readonly string[] | TrustedProxies): TrustedProxies {
  if (typeof proxies === 'object' && proxies !== null && 'trusts' in proxies && typeof proxies.trusts === 'function') return proxies
  requireList(`${where}: trustedProxies`, proxies)
  return trustProxies(proxies as readonly string[])
}

function requireList(where: string, proxies: unknown): void {
  if (Array.isArray(proxies) && proxies.every((entry) => typeof entry === 'string')) return
  throw new LimiterError(
    'INVALID_OPTIONS',
    `${where} is ${shown(proxies)}, expected a list of addresses and networks, such as ['loopback', '10.0.0.0/8']; a proxy is never trusted by a number of hops`,
  )
}

/**
 * Trusts proxies by address, never by a number of hops. An empty list trusts nobody.
 * @param source the header that reports the client; default `x-forwarded-for`
 * @throws LimiterError INVALID_OPTIONS unless entries are a list of texts; INVALID_ADDRESS for an invalid entry or source, or for a network
 * of every address
 */
export function trustProxies(entries: readonly string[], source: string = 'x-forwarded-for'): TrustedProxies {
  requireList('trustProxies', entries)
  if (typeof source !== 'string' || !/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(source)) {
    throw new LimiterError('INVALID_ADDRESS', `the source of client addresses is ${shown(source)}, expected the name of one header`)
  }
  return trustNetworks(createNetworkSet(entries.flatMap(readTrusted)), source)
}

/** @param source name of a header, not checked */
export function trustNetworks(networks: NetworkSet, source: string = 'x-forwarded-for'): TrustedProxies {
  return Object.freeze({
    source: source.toLowerCase(),
    trusts: (address: Address) => networks.holds(address),
    isEmpty: networks.isEmpty(),
  })
}

export function isPrivate(address: Address): boolean {
  return createNetworkSet([...NAMED.keys()].flatMap(readTrusted)).holds(address)
}

/** @throws LimiterError INVALID_ADDRESS for an entry that `trustProxies` refuses */
export function readTrusted(entry: string): readonly Network[] {
  return (NAMED.get(entry) ?? [entry]).map(readNetwork)
}

const EVERYBODY = 'a network of everybody lets every client choose its own address'

function readNetwork(entry: string): Network {
  const network = attempt(() => parseNetwork(entry, TRUST_FORM, EVERYBODY))
  if (!(network instanceof LimiterError)) return network
  throw new LimiterError('INVALID_ADDRESS', `trusted proxy ${JSON.stringify(entry)}: ${network.message}`)
}
