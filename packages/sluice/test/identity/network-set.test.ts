import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, formatAddress, maskAddress, parseAddress } from '../../src/identity/address.ts'
import { createNetworkSet, type Network, parseNetwork } from '../../src/identity/network.ts'
import { trustProxies } from '../../src/identity/trusted-proxies.ts'

const network = (text: string): Network => parseNetwork(text, 'a network', 'everybody')
const address = (text: string): Address => parseAddress(text) as Address

/** One after the other, as it is written down. */
function holdsOneOf(networks: readonly Network[], found: Address): boolean {
  return networks.some(({ base, prefix }) => {
    const masked = maskAddress(found, prefix)
    return base.length === found.length && base.every((word, index) => word === masked[index])
  })
}

describe('a set of networks', () => {
  const set = createNetworkSet(
    ['10.0.0.0/8', '192.0.2.7', '192.0.2.128/25', '2001:db8::/32', '2001:db9::1', '::ffff:198.51.100.0/120'].map(network),
  )

  it.each(['10.255.0.1', '192.0.2.7', '192.0.2.200', '2001:db8:ffff::1', '2001:db9::1', '198.51.100.9', '::ffff:10.1.1.1'])(
    'holds %s',
    (text) => expect(set.holds(address(text))).toBe(true),
  )
  it.each(['11.0.0.0', '192.0.2.8', '192.0.2.127', '2001:db7::', '2001:db9::2', '198.51.101.0', '::a00:0', 'a00::'])(
    'does not hold %s',
    (text) => expect(set.holds(address(text))).toBe(false),
  )

  it('answers as all networks one after the other', () => {
    const word = fc.constantFrom(0, 1, 0x8000, 0xffff)
    const any = fc.oneof(fc.array(word, { minLength: 2, maxLength: 2 }), fc.array(word, { minLength: 8, maxLength: 8 }))
    const one = any.chain((base) =>
      fc.integer({ min: 1, max: base.length * 16 }).map((prefix): Network => ({ base: maskAddress(base, prefix), prefix })),
    )
    fc.assert(
      fc.property(fc.array(one, { maxLength: 8 }), fc.array(any, { maxLength: 8 }), (networks, found) => {
        const made = createNetworkSet(networks)
        for (const each of found) expect([formatAddress(each), made.holds(each)]).toEqual([formatAddress(each), holdsOneOf(networks, each)])
      }),
      { seed: 20_261_122, numRuns: 2_000 },
    )
  })
})

describe('R13: a request after the reload of a large policy', () => {
  it('does not pay for each of its networks', () => {
    const proxies = (count: number): ReturnType<typeof trustProxies> =>
      trustProxies(Array.from({ length: count }, (_, index) => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`))
    /** Microseconds of processor time: the least of several, because a collection of garbage may fall into one. */
    const work = (trusted: ReturnType<typeof trustProxies>): number => {
      const each = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage().user
        for (let round = 0; round < 2_000; round += 1) trusted.trusts(address('192.0.2.1'))
        return process.cpuUsage().user - before
      })
      return Math.min(...each)
    }
    const [few, many] = [proxies(10), proxies(15_000)]
    // One after the other they take a thousand times as long.
    expect(work(many)).toBeLessThan(50 * Math.max(work(few), 1_000))
  })
})
