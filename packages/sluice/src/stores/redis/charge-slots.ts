import { isRecord } from '../../algorithms/hold-record.ts'
import {
  type CallOptions,
  type Change,
  type Decided,
  type Failed,
  type GroupVerdict,
  type Store,
  StoreFailure,
  type Verdict,
} from '../store.ts'
import { corrected } from './peek-slots.ts'
import { type Answered, type DecideSlot, joinSlots, type SlotCalls, uncharged } from './slot-groups.ts'

/** If a slot does not allow the group, gives back what the earlier slots charged. */
export async function chargeSlots(
  store: Store,
  parts: readonly SlotCalls[],
  decideSlot: DecideSlot,
  options: CallOptions | undefined,
): Promise<GroupVerdict> {
  const charged: Answered<Decided>[] = []
  for (const part of parts) {
    const verdict = await decideSlot(part)
    if (verdict.failure !== undefined) {
      if (charged.length === 0) return verdict
      // The option `onFull` may still allow or deny this group, so none of its charges may stay.
      if (verdict.failure.kind === 'memory') {
        const failure = await giveBack(store, charged, options)
        return failure === undefined ? verdict : inDoubt(failure)
      }
      // Charges of a hold stay: an earlier attempt may have created the hold in the slot that failed.
      if (parts.some(({ calls }) => calls.some(({ limit }) => isRecord(limit)))) return inDoubt(verdict.failure)
      // Not awaited, because the deadline has often passed by now. If this fails, the tokens stay charged.
      giveBack(store, charged, options?.now === undefined ? undefined : { now: options.now }).catch(() => {})
      return inDoubt(verdict.failure)
    }
    if (verdict.outcome !== 'allowed') return refuse(store, parts, { part, verdict }, charged, decideSlot, options)
    charged.push({ part, verdict })
  }
  return joinSlots(charged)
}

/** Gets the verdicts of the other slots without charging them. */
async function refuse(
  store: Store,
  parts: readonly SlotCalls[],
  no: Answered<Decided>,
  charged: readonly Answered<Decided>[],
  decideSlot: DecideSlot,
  options: CallOptions | undefined,
): Promise<GroupVerdict> {
  const failure = await giveBack(store, charged, options)
  if (failure !== undefined) return inDoubt(failure)
  const others = parts.filter((part) => part !== no.part)
  const joined = joinSlots([no, ...(await Promise.all(others.map(async (part) => ({ part, verdict: await decideSlot(uncharged(part)) }))))])
  return corrected(store, parts, joined, options)
}

/** Returns undefined if everything was given back, else the first failure. */
async function giveBack(store: Store, charged: readonly Answered<Decided>[], options?: CallOptions): Promise<StoreFailure | undefined> {
  const results = await Promise.all(
    charged.map(({ part, verdict }) => {
      const receipt = options?.now ?? verdict.at
      const changes = part.calls.flatMap((call, index): Change[] => {
        if (isRecord(call.limit)) return [{ kind: 'reset', id: call.id }]
        const { after, grant } = verdict.calls[index] as Verdict
        const holder = part.options?.hold?.id
        // The holder had this slot before the call.
        if (grant?.again === true) return []
        if (grant !== undefined && holder !== undefined) return [{ kind: 'release', call, holder }]
        return after === undefined ? [{ kind: 'adjust', call, amount: call.cost, receipt }] : [{ kind: 'leave', call, after }]
      })
      // Records of holds are deleted first, so that nobody can settle a hold whose charges are being given back.
      return store.change([...changes.filter(isReset), ...changes.filter((change) => !isReset(change))], options)
    }),
  )
  return results.flat().find(({ failure }) => failure !== undefined)?.failure
}

function isReset({ kind }: Change): boolean {
  return kind === 'reset'
}

/** Earlier slots may still be charged, so `executed` is 'unknown'. */
function inDoubt({ kind, message, cause }: StoreFailure): Failed {
  return { failure: new StoreFailure(kind, 'unknown', message, { cause }) }
}
