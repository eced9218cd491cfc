import { LimiterError } from '../errors/limiter-error.ts'
import { type Address, isMapped, maskAddress, parseAddress, parseWords } from './address.ts'

/** All addresses that share their leading bits with `base`. */
export interface Network {
  readonly base: Address
  readonly prefix: number
}

export const NETWORK_FORM = 'an address or a network such as 10.0.0.0/8 or 2001:db8::/32'

/**
 * IPv4-mapped IPv6 becomes IPv4.
 * @throws LimiterError INVALID_ADDRESS for invalid text, a mapped prefix shorter than /96, or a network that contains every address
 */
export function parseNetwork(entry: string, form: string, everybody: string): Network {
  const match = /^([\d.:a-f]+)(?:\/(\d{1,3}))?$/i.exec(entry)
  const words = match === null ? undefined : parseWords(match[1] as string)
  if (match === null || words === undefined) throw refused(`expected ${form}`)
  const bits = words.length * 16
  const written = match[2] === undefined ? bits : Number(match[2])
  if (written > bits) throw refused(`expected a prefix of at most ${bits}`)
  const mapped = isMapped(words)
  if (mapped && written < 96)
    throw refused('a network of IPv4-mapped addresses needs a prefix of at least 96 (it would hold far more than it names)')
  const prefix = mapped ? written - 96 : written
  if (prefix === 0) throw refused(everybody)
  return { base: maskAddress(parseAddress(match[1] as string) as Address, prefix), prefix }
}

function refused(why: string): LimiterError {
  return new LimiterError('INVALID_ADDRESS', why)
}

/** The time of a lookup depends on the number of different prefix lengths, not of networks. */
export interface NetworkSet {
  add(network: Network): void
  isEmpty(): boolean
  holds(address: Address): boolean
}

interface SamePrefix {
  readonly words: number
  readonly prefix: number
  readonly bases: Set<number | string>
}

export function createNetworkSet(networks: readonly Network[] = []): NetworkSet {
  const byPrefix: SamePrefix[] = []
  const set: NetworkSet = {
    add({ base, prefix }) {
      let same = byPrefix.find((one) => one.words === base.length && one.prefix === prefix)
      if (same === undefined) {
        same = { words: base.length, prefix, bases: new Set() }
        byPrefix.push(same)
      }
      same.bases.add(nameOf(base))
    },
    isEmpty: () => byPrefix.length === 0,
    holds: (address) =>
      byPrefix.some(
        ({ words, prefix, bases }) =>
          words === address.length && bases.has(nameOf(prefix === words * 16 ? address : maskAddress(address, prefix))),
      ),
  }
  for (const network of networks) set.add(network)
  return set
}

/** A number for IPv4, a string for IPv6. */
function nameOf(base: Address): number | string {
  const [high = 0, low = 0] = base
  return base.length === 2 ? high * 65_536 + low : base.join(':')
}
