import type { HoldReport } from '../algorithms/settle-hold.ts'
import { changing, MAX_ROUNDS, readAgain, refreshed, type ShareCall, type SharesUsed, StaleShares } from './by-shares.ts'
import { type KnownShares, sharesOf } from './region-port.ts'
import { nothingOf, recordIn } from './share-names.ts'
import { type Call, type CallOptions, type Change, type ChangeResult, failedBy, type HoldChange, isOfHold, type Store } from './store.ts'

/** Settles a hold, if the server has the same shares of the region as `used` has. @throws StaleShares */
type SettleGuarded = (change: HoldChange, used: SharesUsed, options: CallOptions | undefined) => Promise<ChangeResult>

/**
 * An extension only moves the end of a hold to a later instant. So one to this many microseconds from now changes nothing, and reads what
 * the hold was charged.
 */
const READ_ONLY = 1

/**
 * Makes the store's `change`, for a store whose holds may have charged a region's share of a limit. A settlement gives tokens back to the
 * share that the region has now, as far as there is room, or charges that share. The server makes the settlement only if it has the share
 * that this process knows. Otherwise the process reads the share and tries again. If the region holds no units of a key any more, nothing
 * can be given back to that key or charged to it.
 * @param plain makes changes that need no share
 */
export function changingByShares(store: string, plain: Store['change'], settle: SettleGuarded): Store['change'] {
  const make = async (change: HoldChange, first: KnownShares, options: CallOptions | undefined): Promise<ChangeResult> => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const view = await refreshed(first, options)
      if (view === undefined) continue
      const own = { ...change, id: recordIn(view.run, change.id) }
      // An extension only moves the end of a hold. With `stands` a settlement leaves all charges as they are. Neither needs a share.
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

/** The shares of the first limit that has some. Undefined if the change is not of a hold, or if no limit has shares. */
function sharesIn(change: Change): KnownShares | undefined {
  if (!isOfHold(change)) return undefined
  for (const { limit } of change.calls) {
    const shares = sharesOf(limit)
    if (shares !== undefined) return shares
  }
  return undefined
}

/** The call with the share in place of the limit. If the region holds no units of the key, the call names a state that is never written. */
function byShare(call: Call): Call | ShareCall {
  const { id, limit } = call
  const shares = sharesOf(limit)
  if (shares === undefined) return call
  const known = shares.shareOf(id)
  const own = known.holds ? id : { scope: { text: nothingOf(id.scope.text) }, key: id.key }
  return { ...call, limit: known.limit, id: own, cell: id, shares, known }
}

/** Adds to the overage (what was used but not charged) what the hold used beyond the costs that were sent to the server. */
function withOverage({ hold, ...result }: ChangeResult, used: readonly Call[], sent: readonly Call[]): ChangeResult {
  if (hold === undefined) return result
  const parts = hold.parts.map((part, index) => {
    const more = (used[index]?.cost ?? 0) - (sent[index]?.cost ?? 0)
    return part === undefined || more <= 0 ? part : { ...part, overage: part.overage + more }
  })
  return { ...result, hold: { ...hold, parts } }
}
