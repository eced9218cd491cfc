import type { RegionChoice } from 'sluice/policy'
import { type CommandFailure, usage } from '../cli/failure.ts'
import { regionFacts } from '../policy/region-facts.ts'
import { type RegionArguments, type RegionOptions, withSlash } from './options.ts'

const NO_ARGUMENTS: RegionArguments = {
  self: undefined,
  peers: undefined,
  weights: undefined,
  keyFile: undefined,
  called: (name) => `--${name}`,
}

/**
 * Arguments may replace the addresses and weights of the policy. Undefined if neither arguments nor policy name regions.
 * @throws CommandFailure exit 3 if something is missing, or arguments and policy contradict each other
 */
export function chosenRegion(
  given: RegionArguments | undefined,
  policy: RegionChoice | undefined,
  workers: number,
): RegionOptions | undefined {
  if (given === undefined && policy === undefined) return undefined
  const args = given ?? NO_ARGUMENTS
  const self = args.self ?? policy?.self
  if (self === undefined) throw missingSelf(policy)
  const others = othersOf(args, policy, self)
  const mode = policy?.mode ?? 'escrow'
  const weights = weightsOf(args, policy, [self, ...others])
  const cutoffMs = policy?.cutoffMs
  if (mode === 'fixed') return { self, mode, cutoffMs, others, weights, peers: new Map(), keyFile: '' }
  if (workers > 1)
    throw usage(
      'serve: --region needs one process in this version: over redis:// and postgres:// several services of a region may share what it holds',
    )
  if (args.keyFile === undefined) throw usage('serve: regions need --region-key-file: the key by which they know each other')
  return {
    self,
    mode,
    cutoffMs,
    others,
    weights,
    peers: args.peers === undefined ? addressesOf(policy, others) : new Map([...args.peers].filter(([name]) => name !== self)),
    keyFile: args.keyFile,
  }
}

function missingSelf(policy: RegionChoice | undefined): CommandFailure {
  if (policy === undefined) return usage('serve: --peers, --region-weights and --region-key-file need --region: the name of this region')
  return usage('serve: the policy has regions, and nothing says which one this is: give --region, SLUICE_REGION or regions.self')
}

function othersOf({ self: given, peers, called }: RegionArguments, policy: RegionChoice | undefined, self: string): readonly string[] {
  const without = (names: readonly string[]): readonly string[] => names.filter((name) => name !== self).sort()
  if (policy === undefined) {
    if (peers === undefined) throw usage(`serve: ${called('region')} needs --peers, or regions in the policy: the other regions`)
    const others = without([...peers.keys()])
    if (others.length === 0) throw usage(`serve: ${called('peers')} names no region other than ${self}`)
    return others
  }
  const names = regionFacts(policy).regions.map(({ name }) => name)
  // A region that the others do not know would grant its part of the limit in addition to theirs.
  if (given !== undefined && !names.includes(given))
    throw usage(`serve: ${called('region')} is ${JSON.stringify(given)}: the regions of the policy are ${names.join(', ')}`)
  const others = without(names)
  const addressed = peers === undefined ? others : without([...peers.keys()])
  if (addressed.join() !== others.join())
    throw usage(`serve: ${called('peers')} names ${addressed.join(', ')}: the other regions of the policy are ${others.join(', ')}`)
  return others
}

function weightsOf({ weights, called }: RegionArguments, policy: RegionChoice | undefined, names: readonly string[]) {
  if (weights === undefined) return policy?.weights
  const [have, want] = [[...weights.keys()].sort().join(', '), [...names].sort().join(', ')]
  if (have !== want)
    throw usage(`serve: ${called('region-weights')} is for ${have}, and the regions are ${want}: expected a weight for each`)
  return Object.fromEntries(weights)
}

function addressesOf(policy: RegionChoice | undefined, names: readonly string[]): Map<string, URL> {
  const urls = new Map(policy?.peers.map(({ name, url }) => [name, url]))
  return new Map(
    names.map((name): [string, URL] => {
      const url = urls.get(name)
      if (url !== undefined) return [name, withSlash(new URL(url))]
      throw usage(`serve: region ${name} has no address: write ${name}=https://... into regions.peers, or give --peers`)
    }),
  )
}
