import { type Address, maskAddress } from './address.ts'
import type { Network } from './network.ts'

/** Networks that are looked up by the address: the cost grows with the number of different prefix lengths, not with the number of networks. */
export interface NetworkSet {
  add(network: Network): void
  /** Whether the address lies in one of them. */
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

/** A number for IPv4, a text for IPv6: the same for the same address alone. */
function nameOf(base: Address): number | string {
  const [high = 0, low = 0] = base
  return base.length === 2 ? high * 65_536 + low : base.join(':')
}
