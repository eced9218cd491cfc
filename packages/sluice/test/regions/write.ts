import { type BucketPlan, planOf } from '../../src/algorithms/bucket-plan.ts'
import { MICRO } from '../../src/algorithms/decimal.ts'
import { createNetwork, type Network } from './network.ts'
import type { Programs } from './site.ts'

/** What a history written by hand found. */
export interface Result {
  /** Whether audit (a) or (b) found more than the limit. */
  readonly over: boolean
  /** The most units held together (c). */
  readonly mostUnits: number
  /** Whether all regions agreed at last (d). */
  readonly agreed: boolean
}

export const SECOND = 1_000_000
/** One token per second. */
export const limit = (burst: number): BucketPlan => planOf(1, 1, burst * MICRO)
export const HALVES = [500, 500]

export function written(weights: readonly number[], limits: readonly BucketPlan[], happens: (network: Network) => void, undivided = false) {
  return (programs: Programs): Result => {
    const network = createNetwork({ programs, weights, limits, undivided })
    network.check()
    happens(network)
    network.check()
    heal(network)
    takeAll(network)
    const { a, b } = network.worst
    return { over: a > 0 || b > 0, mostUnits: network.mostUnits, agreed: network.agree() }
  }
}

/** All regions take what they have. */
export function takeAll(network: Network, policy = 0): void {
  for (let region = 0; region < network.regions; region += 1) network.call(region, undefined, 0, policy)
  network.check()
}

/** Rounds of pulls until all agree. */
export function heal(network: Network): void {
  for (let round = 0; round < 8 && !network.agree(); round += 1) network.round()
}

export function arrive(network: Network, region: number, peer: number, policy = 0): void {
  network.pull(region, peer)
  network.deliverAll(policy)
  network.check()
}

/** Ends the era, and begins one with these weights, to which all regions agree at once. */
export function era(network: Network, weights: readonly number[], version = 2): void {
  network.close(0, network.rosterOf(version, weights))
  for (let round = 0; round < 3; round += 1) network.round()
}
