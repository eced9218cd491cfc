import type { HoldReport } from '../algorithms/settle-hold.ts'
import { changing, MAX_ROUNDS, readAgain, refreshed, type ShareCall, type SharesUsed, StaleShares } from './by-shares.ts'
import { type KnownShares, sharesOf } from './region-port.ts'
import { nothingOf, recordIn } from './share-names.ts'
import { type Call, type CallOptions, type Change, type ChangeResult, failedBy, type HoldChange, isOfHold, type Store } from './store.ts'

/** @throws StaleShares if the server has other shares of the region than `used` */
type SettleGuarded = (change: HoldChange, used: SharesUsed, options: CallOptions | undefined) => Promise<ChangeResult>

/** An extension to this many microseconds from now changes nothing. It only reads what the hold was charged. */
const READ_ONLY = 1

/**
 * A settlement of a hold charges the region's present share of the key, or refunds it, up to its burst. If the server has another share
 * than this process knows, the process reads it and tries again. A key of which the region has no share now is left unchanged.
 * @param plain makes changes that need no share
 */
export function changingByShares(store: string, plain: Store['change'], settle: SettleGuarded): Store['change'] {
  const make = async (change: HoldChange, first: KnownShares, options: CallOptions | undefined): Promise<ChangeResult> => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const view = await refreshed(first, options)
      if (view === undefined) continue
      const own = { ...change, id: recordIn(view.run, change.id) }
      // An extension changes no charges, nor does a settlement with `stands`. So neither needs the region's shares of the buckets.
      if (own.kind === 'extend' || own.stands === true) return only(await plain([own], options))
      const calls = change.calls.map(byShare)
      const read = async (): Promise<HoldReport | undefined> => {
        const asked = { kind: 'extend', id: own.id, calls: change.calls, holder: own.holder, micros: READ_ONLY } as const
        return only(await plain([asked], options)).hold
      }
      try {
        const away = calls.map(({ id }, index) => id !== change.calls[index]?.id)
        if (!away.includes(true)) return await settle({ ...own, calls }, { view, others: [] }, options)
        const hold = await read()
        const held = (index: number): number => (hold?.status === 'open' ? (hold.parts[index]?.held ?? 0) : Infinity)
        const most = calls.map((call, index) => (away[index] ? { ...call, cost: Math.min(call.cost, held(index)) } : call))
        return withOverage(await settle({ ...own, calls: most }, { view, others: [] }, options), change.calls, most)
      } catch (error) {
        if (!(error instanceof StaleShares)) throw error
        // A settlement of a hold that is not open changes nothing, so its shares need not be read again.
        if ((await read())?.status !== 'open') return only(await plain([own], options))
        await readAgain(error, first, options)
      }
    }
    throw changing(store)
  }
  return async (changes, options) => {
    if (changes.every((change) => sharesIn(change) === undefined)) return plain(changes, options)
    const results: ChangeResult[] = []
    for (const change of changes) {
      const first = sharesIn(change)
      try {
        const made = first === undefined ? await plain([change], options) : [await make(change as HoldChange, first, options)]
        results.push(...made)
      } catch (error) {
        results.push(failedBy(error))
      }
    }
    return results
  }
}

/** @throws StoreFailure if the change was not made */
function only([result]: readonly ChangeResult[]): ChangeResult {
  if (result?.failure !== undefined) throw result.failure
  return result as ChangeResult
}

function sharesIn(change: Change): KnownShares | undefined {
  if (!isOfHold(change)) return undefined
  for (const { limit } of change.calls) {
    const shares = sharesOf(limit)
    if (shares !== undefined) return shares
  }
  return undefined
}

/** If the region has no share of the key, the call names a state that is never written. */
function byShare(call: Call): Call | ShareCall {
  const { id, limit } = call
  const shares = sharesOf(limit)
  if (shares === undefined) return call
  const known = shares.shareOf(id)
  const own = known.holds ? id : { scope: { text: nothingOf(id.scope.text) }, key: id.key }
  return { ...call, limit: known.limit, id: own, cell: id, shares, known }
}

/** Adds what the hold used beyond the costs that were sent. */
function withOverage({ hold, ...result }: ChangeResult, used: readonly Call[], sent: readonly Call[]): ChangeResult {
  if (hold === undefined) return result
  const parts = hold.parts.map((part, index) => {
    const more = (used[index]?.cost ?? 0) - (sent[index]?.cost ?? 0)
    return part === undefined || more <= 0 ? part : { ...part, overage: part.overage + more }
  })
  return { ...result, hold: { ...hold, parts } }
}
