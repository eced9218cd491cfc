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

export interface StoreDescription {
  readonly store: string
  readonly keeps: string
  readonly ring: string
}

/**
 * @throws CommandFailure as `openServing`, `chosenRegion` and `openRegion` do; exit 3 if the mode of the policy's regions does not run over
 * this store
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
    store,
    /** Absent without other regions. */
    region,
    /** The ring batches calls to a remote store; absent without one. */
    ring,
    /** The store inside the ring. */
    opened,
    health,
    description,
    /** The URL, if the policy chose the store; else undefined. */
    fromPolicy: chosen === undefined ? url : undefined,
    close: (): Promise<void> => close(region),
  }
}
