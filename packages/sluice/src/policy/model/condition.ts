import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { parseAddress } from '../../identity/address.ts'
import { canonicalValue, type Source } from '../../identity/source.ts'
import { createNetworkSet, type Network, NETWORK_FORM, parseNetwork } from '../../identity/network.ts'
import type { Condition } from './rule.ts'

/** Undefined if any of the texts is impossible for the source. For an address, a text may be a network. */
export function conditionOf(source: Source, texts: readonly string[]): Condition | undefined {
  const value = texts.join(' or ')
  if (source.text.startsWith('ip:')) {
    const networks = texts.map(networkOf)
    if (networks.includes(undefined)) return undefined
    const set = createNetworkSet(networks as Network[])
    const test: Condition['test'] = ({ address }) => {
      const found = address === undefined ? undefined : parseAddress(address)
      return found !== undefined && set.holds(found)
    }
    return { source, value, test }
  }
  const values = texts.map((text) => canonicalValue(source, text))
  const [first] = values
  if (first === undefined || values.includes(undefined)) return undefined
  if (values.length === 1) return { source, value: first }
  const known = new Set(values)
  return { source, value, accepts: (found) => known.has(found) }
}

function networkOf(text: string): Network | undefined {
  const network = attempt(() => parseNetwork(text, NETWORK_FORM, 'everybody is not a condition'))
  return network instanceof LimiterError ? undefined : network
}
