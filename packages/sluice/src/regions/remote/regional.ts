import type { ChangeResult, Store } from '../../stores/store.ts'
import { bucketsOf, checkGive, regional, type RegionalStore } from '../regional.ts'
import type { RegionalLimits } from '../regional-limits.ts'
import type { RemoteEscrow } from './escrow.ts'

export function remoteRegional(
  store: Store,
  escrow: RemoteEscrow,
  self: string,
  weights: ReadonlyMap<string, number>,
  limits: RegionalLimits,
): RegionalStore {
  const { lease: _, decideNow: __, ...plain } = store
  const made = regional(plain, self, weights, limits, (call) => {
    const bucket = limits.bucketOf(call.limit)
    return bucket === undefined ? limits.partOf(call.limit) : escrow.limitOf(call, bucket)
  })
  const bucketOf = bucketsOf(limits)
  const { groupOptions = [], changes, ...capabilities } = made.capabilities
  return {
    ...made,
    capabilities: {
      ...capabilities,
      // Left out are `leave` and `maxWait`, for calls charged before their tokens are there: a peer may get the units that would refill
      // them.
      changes: changes.filter((kind) => kind !== 'leave'),
      groupOptions: groupOptions.filter((option) => option !== 'maxWait'),
    },
    async change(all, options) {
      const results: ChangeResult[] = []
      for (const change of all) {
        const bucket = change.kind === 'adjust' ? limits.bucketOf(change.call.limit) : undefined
        if (change.kind === 'adjust' && bucket !== undefined) {
          await escrow.adjust(change, bucket, options)
          results.push({})
        } else results.push(...(await made.change([change], options)))
      }
      return results
    },
    async ready(options) {
      await made.ready(options)
      await escrow.refresh(options)
    },
    remote: {
      async status() {
        const { phase, era } = await escrow.refresh()
        return { phase, era }
      },
      async unitsOf(key) {
        const limit = bucketOf('unitsOf', key)
        return (await escrow.held(key.id, limit)).units
      },
      async give(key, to, units) {
        checkGive(made, to, units)
        return escrow.give(key, bucketOf('give', key), to, units)
      },
    },
  }
}
