import type { Policy } from 'sluice/policy'
import { usage } from '../../cli/failure.ts'
import { regionStoreProblem } from '../../policy/region-facts.ts'
import { chosenRegion } from '../../regions/chosen.ts'
import { openFixedRegion } from '../../regions/fixed-region.ts'
import type { RegionOptions } from '../../regions/options.ts'
import { openRegion, type Region } from '../../regions/region.ts'
import { surrounded } from '../../stores/ring.ts'
import { openServing } from '../../stores/serving-store.ts'
import { followStore } from '../../stores/store-health.ts'
import type { Group } from '../../workers/worker-group.ts'
import type { ServeOptions } from './options.ts'

export type ServiceStore = Awaited<ReturnType<typeof openServiceStore>>

/** How the line about the start describes the store. */
export interface StoreDescription {
  readonly store: string
  /** How the states of the store are kept and shared. */
  readonly keeps: string
  readonly ring: string
}

/**
 * Opens the store of the command line or of the policy, puts the ring (batches, breaker, remembered denials) around it, and follows whether
 * the store answers.
 * @throws CommandFailure as `openServing`, `chosenRegion` and `openRegion` do, and exit 3 if the mode of the policy's regions does not run
 * over this store
 */
export async function openServiceStore(
  options: Pick<ServeOptions, 'store' | 'place' | 'requireStore' | 'region' | 'workers'>,
  policy: Policy,
  group: Group,
) {
  const { store: chosen, place, requireStore: required } = options
  const url = chosen ?? policy.store ?? 'memory:'
  const shared = chosenRegion(options.region, policy.regions, options.workers)
  const problem = shared && regionStoreProblem(shared.mode, url)
  if (problem !== undefined) throw usage(`serve: ${problem}`)
  const policyFile = chosen === undefined ? place.file : undefined
  const health = followStore(url, group.report)
  const opened = await openServing(url, { policyFile, required, log: group.logs.shared, health })
  const { store: own, ring, around } = surrounded(opened.store, opened.name, policy.failure, health.breakerChanged)
  const open = async (described: RegionOptions): Promise<Region> =>
    described.mode === 'fixed' ? openFixedRegion(described, own) : openRegion(described, own, opened.name, group.logs.shared)
  const close = (region?: Region): Promise<void> =>
    Promise.resolve(region?.close())
      .then(() => ring?.close())
      .then(opened.close)
  const region =
    shared &&
    (await open(shared).catch(async (error: unknown) => {
      await close()
      throw error
    }))
  const store = region?.store ?? own
  const description: StoreDescription = { store: opened.name, keeps: opened.keeps, ring: around }
  return {
    /** The store to decide with: the ring, if there is one. */
    store,
    /** The part that shares limits with other regions; absent without them. */
    region,
    /** Absent if the store is in this process. */
    ring,
    /** The store inside the ring. */
    opened,
    health,
    description,
    /** The URL if the policy chose the store, undefined if the command line did. */
    fromPolicy: chosen === undefined ? url : undefined,
    /** Closes the ring, and then the store in it. */
    close: (): Promise<void> => close(region),
  }
}
