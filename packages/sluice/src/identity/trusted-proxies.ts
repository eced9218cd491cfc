import { LimiterError } from '../errors/limiter-error.ts'
import { type Address, isMapped, maskAddress, parseAddress, parseWords } from './address.ts'

/** Which peers may speak for others, and in which one header they do. */
export interface TrustedProxies {
  /** Lower-case name of the only header that is read: `x-forwarded-for`, `forwarded`, or one that holds a single address. */
  readonly source: string
  trusts(address: Address): boolean
}

interface Network {
  readonly base: Address
  readonly prefix: number
}

const NAMED: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

export const TRUST_FORM = 'an address, a network such as 10.0.0.0/8, or one of loopback, linklocal, uniquelocal'

/**
 * Proxies that are trusted by their address, never by a number of hops. An empty list trusts nobody.
 * @param source the one header they write; default `x-forwarded-for`
 * @throws LimiterError INVALID_ADDRESS for what is no network, a mapped prefix shorter than /96, or a network of everybody
 */
export function trustProxies(entries: readonly string[], source: string = 'x-forwarded-for'): TrustedProxies {
  if (!/^[\w!#$%&'*+.^`|~-]{1,128}$/.test(source)) {
    throw new LimiterError(
      'INVALID_ADDRESS',
      `the source of client addresses is ${JSON.stringify(source)}, expected the name of one header`,
    )
  }
  const networks = entries.flatMap((entry) => NAMED.get(entry) ?? [entry]).map(parseNetwork)
  return Object.freeze({
    source: source.toLowerCase(),
    trusts: (address: Address) =>
      networks.some(({ base, prefix }) => address.length === base.length && same(maskAddress(address, prefix), base)),
  })
}

function parseNetwork(entry: string): Network {
  const match = /^([\d.:a-f]+)(?:\/(\d{1,3}))?$/i.exec(entry)
  const words = match === null ? undefined : parseWords(match[1] as string)
  if (match === null || words === undefined) throw refused(entry, `expected ${TRUST_FORM}`)
  const bits = words.length * 16
  const written = match[2] === undefined ? bits : Number(match[2])
  if (written > bits) throw refused(entry, `expected a prefix of at most ${bits}`)
  const mapped = isMapped(words)
  if (mapped && written < 96)
    throw refused(entry, 'a network of IPv4-mapped addresses needs a prefix of at least 96 (it would trust far more than it names)')
  const prefix = mapped ? written - 96 : written
  if (prefix === 0) throw refused(entry, 'a network of everybody lets every client choose its own address')
  return { base: maskAddress(parseAddress(match[1] as string) as Address, prefix), prefix }
}

function refused(entry: string, why: string): LimiterError {
  return new LimiterError('INVALID_ADDRESS', `trusted proxy ${JSON.stringify(entry)}: ${why}`)
}

function same(a: Address, b: Address): boolean {
  return a.every((word, index) => word === b[index])
}
