import { stateName } from '../../keys/encode.ts'
import {
  type AdjustOptions,
  type Call,
  type CallGroup,
  type CallOptions,
  type GroupVerdict,
  type LeaseAnswer,
  type LeaseRequest,
  type StateId,
  type Store,
  StoreFailure,
} from '../store.ts'
import { gather, independent, inOrder, joinParts, looking, type Part, partsOf, settled, undecided } from './slot-groups.ts'

/**
 * A store whose keys lie in slots, from one that decides groups of one slot. Groups of one slot travel together, slots at the same
 * time. A group over several slots asks slot after slot, the most restrictive first (least rate per cost), and gives back what
 * earlier ones charged when a later one does not allow: when it has been answered it has charged all or nothing, but until then
 * others may be denied what it holds (under-grant); nobody is ever admitted too much. Its `at` is the latest of its slots' times.
 * Groups that share a state are decided in order, others at the same time. Bound G: that of the store.
 */
export function bySlot(store: Store, slotOf: (name: string) => number): Store {
  const slot = (id: StateId): number => slotOf(stateName(id))

  /** Groups of one slot each, in order within a slot; one that cannot be decided does not keep others from it. */
  const local = async (
    verb: 'consume' | 'peek',
    parts: readonly Part[],
    options: CallOptions | undefined,
  ): Promise<readonly GroupVerdict[]> => {
    const verdicts: GroupVerdict[] = []
    await Promise.all(
      gather(parts.keys(), (index) => (parts[index] as Part).slot).map(async (indexes) => {
        const groups = indexes.map((index) => ({ calls: (parts[index] as Part).calls }))
        const answers = await store[verb](groups, options).catch((error: unknown) => groups.map(() => undecided(error)))
        indexes.forEach((index, place) => (verdicts[index] = answers[place] as GroupVerdict))
      }),
    )
    return verdicts
  }
  const one = async (part: Part, options: CallOptions | undefined): Promise<GroupVerdict> =>
    (await local('consume', [part], options))[0] as GroupVerdict

  const giveBack = async (part: Part, at: number, options?: CallOptions): Promise<void> => {
    if (store.adjust === undefined) throw new StoreFailure('setup', 'unknown', `${store.name ?? 'store'}: cannot give back`)
    const receipt = options?.now ?? at
    await store.adjust(
      part.calls,
      part.calls.map(({ cost }) => cost),
      { ...options, receipt },
    )
  }

  /** One group over several slots. */
  const spanning = async (parts: readonly Part[], options: CallOptions | undefined): Promise<GroupVerdict> => {
    const charged: { part: Part; verdict: GroupVerdict }[] = []
    for (const part of parts) {
      const verdict = await one(part, options)
      if (verdict.outcome === 'undecided') {
        // Nobody waits for this: it is past the deadline as often as not. What cannot be given back stays charged, as after a lost answer.
        for (const { part: earlier, verdict: held } of charged) {
          giveBack(earlier, held.at, options?.now === undefined ? undefined : { now: options.now }).catch(() => {})
        }
        return charged.length === 0 ? verdict : inDoubt(verdict)
      }
      if (verdict.outcome !== 'allowed') return denied(parts, { part, verdict }, charged, options)
      charged.push({ part, verdict })
    }
    return joinParts(charged)
  }
  const denied = async (
    parts: readonly Part[],
    no: { part: Part; verdict: GroupVerdict },
    charged: readonly { part: Part; verdict: GroupVerdict }[],
    options: CallOptions | undefined,
  ): Promise<GroupVerdict> => {
    try {
      await Promise.all(charged.map(({ part, verdict }) => giveBack(part, verdict.at, options)))
    } catch (error) {
      return undecided(error)
    }
    const others = parts.filter((part) => part !== no.part)
    const seen = await local('consume', others.map(looking), options)
    return joinParts([no, ...others.map((part, index) => ({ part, verdict: seen[index] as GroupVerdict }))])
  }

  const consume = async (groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]> => {
    const asked = groups.map(({ calls }) => partsOf(calls, slot))
    const verdicts: GroupVerdict[] = []
    const decide = async (indexes: readonly number[]): Promise<void> => {
      for (const run of inOrder(indexes, asked)) {
        const parts = run.map((index) => asked[index] as readonly Part[])
        const answers =
          parts.length === 1 && parts[0]?.length !== 1
            ? [await spanning(parts[0] as readonly Part[], options)]
            : await local('consume', parts.flat(), options)
        run.forEach((index, place) => (verdicts[index] = answers[place] as GroupVerdict))
      }
    }
    await Promise.all(independent(groups, asked).map(decide))
    return settled(verdicts)
  }

  const peek = async (groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]> => {
    const asked = groups.map(({ calls }) => partsOf(calls, slot))
    const refused = new Set<number>()
    for (;;) {
      const parts = asked.flatMap((group, index) => (refused.has(index) ? group.map(looking) : group))
      const seen = await local('peek', parts, options)
      let at = 0
      const answers = asked.map((group) => group.map((part) => ({ part, verdict: seen[at++] as GroupVerdict })))
      // What a group over several slots would not get, it does not take in the slot that would allow it: those after it are asked again.
      const next = answers.findIndex(
        (group, index) => group.length > 1 && !refused.has(index) && group.some(({ verdict }) => verdict.outcome !== 'allowed'),
      )
      if (next === -1) return settled(answers.map(joinParts))
      refused.add(next)
    }
  }

  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: { ...store.capabilities, atomicBatch: 'same-slot', sync: false },
    slotOf: (ids) => {
      const [first, ...others] = ids.map(slot)
      return others.every((other) => other === first) ? first : undefined
    },
    consume,
    peek,
    reset: (ids, options) => perSlot(ids, slot, (some) => store.reset(some, options)),
    ...bySlotWhereItCan(store, slot),
    ready: (options) => store.ready(options),
    close: () => store.close(),
  }
}

/** The verbs that not every store has. */
function bySlotWhereItCan(store: Store, slot: (id: StateId) => number): Pick<Store, 'adjust' | 'block' | 'lease'> {
  const { adjust, block, lease } = store
  return {
    ...(adjust === undefined
      ? {}
      : {
          adjust: (calls: readonly Call[], amounts: readonly number[], options?: AdjustOptions) => {
            const both = calls.map((call, index) => ({ call, amount: amounts[index] as number }))
            return perSlot(
              both,
              ({ call }) => slot(call.id),
              async (some) =>
                adjust(
                  some.map(({ call }) => call),
                  some.map(({ amount }) => amount),
                  options,
                ),
            )
          },
        }),
    ...(block === undefined
      ? {}
      : {
          block: (ids: readonly StateId[], duration: number | null, options?: CallOptions) =>
            perSlot(ids, slot, (some) => block(some, duration, options)),
        }),
    ...(lease === undefined
      ? {}
      : {
          lease: async (requests: readonly LeaseRequest[], options?: CallOptions) => {
            const answers = new Map<LeaseRequest, LeaseAnswer>()
            await perSlot(
              requests,
              ({ call }) => slot(call.id),
              async (some) => {
                const granted = await lease(some, options)
                some.forEach((request, index) => answers.set(request, granted[index] as LeaseAnswer))
              },
            )
            return requests.map((request) => answers.get(request) as LeaseAnswer)
          },
        }),
  }
}

async function perSlot<T>(items: readonly T[], slot: (item: T) => number, send: (some: readonly T[]) => Promise<void>): Promise<void> {
  await Promise.all(gather(items, slot).map(send))
}

/** Something was charged and may not be given back: whoever asks again must know. */
function inDoubt(verdict: GroupVerdict): GroupVerdict {
  const { kind = 'unavailable', message = 'no reason', cause } = verdict.degraded ?? {}
  return { ...verdict, degraded: new StoreFailure(kind, 'unknown', message, { cause }) }
}
