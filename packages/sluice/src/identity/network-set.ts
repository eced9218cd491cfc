import { type Address, maskAddress } from './address.ts'
import type { Network } from './network.ts'

/** A set of networks for lookup by address. The cost depends on the number of different prefix lengths, not on the number of networks. */
export interface NetworkSet {
  add(network: Network): void
  /** Whether the address is in one of the networks. */
  holds(address: Address): boolean
}

/** The networks of one prefix length of one family, by their bases. */
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
    holds: (address) =>
      byPrefix.some(
        ({ words, prefix, bases }) =>
          words === address.length && bases.has(nameOf(prefix === words * 16 ? address : maskAddress(address, prefix))),
      ),
  }
  for (const network of networks) set.add(network)
  return set
}

/** A number for IPv4, a text for IPv6; unique for each address. */
function nameOf(base: Address): number | string {
  const [high = 0, low = 0] = base
  return base.length === 2 ? high * 65_536 + low : base.join(':')
}
