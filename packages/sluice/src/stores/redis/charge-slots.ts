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

/**
 * Charges the parts of a group in their Cluster slots, one slot after another. If a slot does not allow the group, gives back what the
 * earlier slots charged.
 * @param decideSlot decides a part of the group in its slot
 */
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
      // The server has no room for the group, so `onFull` may decide it. Then the group must not stay charged in earlier slots.
      if (verdict.failure.kind === 'memory') {
        const failure = await giveBack(store, charged, options)
        return failure === undefined ? verdict : inDoubt(failure)
      }
      // The charges for a hold stay (see `bySlot`). The call may be a repeat: an earlier call may have charged this slot and written the
      // hold's record, and this call only the other slots.
      if (parts.some(({ calls }) => calls.some(({ limit }) => isRecord(limit)))) return inDoubt(verdict.failure)
      // The verdict does not wait until tokens are given back, because the deadline has often passed by now. Tokens that cannot be given
      // back stay charged, as after a lost reply.
      giveBack(store, charged, options?.now === undefined ? undefined : { now: options.now }).catch(() => {})
      return inDoubt(verdict.failure)
    }
    if (verdict.outcome !== 'allowed') return refuse(store, parts, { part, verdict }, charged, decideSlot, options)
    charged.push({ part, verdict })
  }
  return joinSlots(charged)
}

/**
 * Gives back what was charged in the slots before the one that refused. Then gets the verdicts of all other slots without charging them,
 * because the verdict of a group contains those of all its calls.
 */
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

/** Gives back what was charged. Returns the first failure if it is not certain that everything was given back. */
async function giveBack(store: Store, charged: readonly Answered<Decided>[], options?: CallOptions): Promise<StoreFailure | undefined> {
  const results = await Promise.all(
    charged.map(({ part, verdict }) => {
      const receipt = options?.now ?? verdict.at
      const changes = part.calls.flatMap((call, index): Change[] => {
        if (isRecord(call.limit)) return [{ kind: 'reset', id: call.id }]
        const { after, grant } = verdict.calls[index] as Verdict
        const holder = part.options?.hold?.id
        // What the holder had before stays its own.
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

/** The failure of a group that was charged in some slots and may not have got its tokens back. So it reports `executed: 'unknown'`. */
function inDoubt({ kind, message, cause }: StoreFailure): Failed {
  return { failure: new StoreFailure(kind, 'unknown', message, { cause }) }
}
