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
import {
  type Answered,
  type Ask,
  gather,
  joinParts,
  leastWait,
  looking,
  type Part,
  partsOf,
  settled,
  together,
  undecided,
} from './slot-groups.ts'

/**
 * A store with keys in slots, built on one that decides groups of one slot. Groups of one slot are batched; slots are called
 * concurrently. A group over several slots calls one slot after another, the most restrictive first (least rate per cost). If a later
 * slot does not allow it, it returns what earlier ones charged, so a decided group has charged all or nothing. Until then others,
 * including groups of the same `consume`, may be denied the tokens that it holds (under-grant); no group is ever admitted too much. Each
 * slot decides in the order of its calls. `at` is the latest time of a group's slots. Bound G: that of the store.
 */
export function bySlot(store: Store, slot: (id: StateId) => number): Store {
  /** Sends parts of one slot, in order; a failure does not affect other slots. */
  const send = async (verb: 'consume' | 'peek', parts: readonly Part[], options: CallOptions | undefined): Promise<GroupVerdict[]> => {
    const groups = parts.map(({ calls }) => ({ calls }))
    try {
      return [...(await store[verb](groups, options))]
    } catch (error) {
      return groups.map(() => undecided(error))
    }
  }

  const giveBack = async (part: Part, at: number, options?: CallOptions): Promise<void> => {
    if (store.adjust === undefined) throw new StoreFailure('setup', 'unknown', `${store.name ?? 'store'}: cannot give back`)
    await store.adjust(
      part.calls,
      part.calls.map(({ cost }) => cost),
      { ...options, receipt: options?.now ?? at },
    )
  }

  const decide = async (parts: readonly Part[], ask: Ask, options: CallOptions | undefined): Promise<GroupVerdict> => {
    const charged: Answered[] = []
    for (const part of parts) {
      const verdict = await ask(part)
      if (verdict.outcome === 'undecided') {
        // Nobody waits for this, because the deadline has often passed. Tokens that cannot be returned stay charged, as after a lost
        // reply.
        const later = options?.now === undefined ? undefined : { now: options.now }
        for (const held of charged) giveBack(held.part, held.verdict.at, later).catch(() => {})
        return charged.length === 0 ? verdict : inDoubt(verdict)
      }
      if (verdict.outcome !== 'allowed') return refuse(parts, { part, verdict }, charged, ask, options)
      charged.push({ part, verdict })
    }
    return joinParts(charged)
  }
  const refuse = async (
    parts: readonly Part[],
    no: Answered,
    charged: readonly Answered[],
    ask: Ask,
    options: CallOptions | undefined,
  ): Promise<GroupVerdict> => {
    try {
      await Promise.all(charged.map(({ part, verdict }) => giveBack(part, verdict.at, options)))
    } catch (error) {
      return undecided(error)
    }
    const others = parts.filter((part) => part !== no.part)
    const joined = joinParts([no, ...(await Promise.all(others.map(async (part) => ({ part, verdict: await ask(looking(part)) }))))])
    return waited(parts, joined, options)
  }
  /** The verdict with a wait that is also right for ramped limits. */
  const waited = async (parts: readonly Part[], verdict: GroupVerdict, options: CallOptions | undefined): Promise<GroupVerdict> => {
    const ramped = parts.some(({ calls }) => calls.some(({ limit }) => limit.ramped === true))
    if (verdict.outcome !== 'denied' || parts.length < 2 || !ramped) return verdict
    const askAt = async (part: Part, now: number): Promise<GroupVerdict> =>
      (await send('peek', [part], { ...options, now }))[0] as GroupVerdict
    return { ...verdict, retryAfter: await leastWait(parts, verdict, askAt) }
  }

  const consume = async (groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]> => {
    const ask = together((parts) => send('consume', parts, options))
    return settled(await Promise.all(groups.map(({ calls }) => decide(partsOf(calls, slot), ask, options))))
  }

  const peek = async (groups: readonly CallGroup[], options?: CallOptions): Promise<readonly GroupVerdict[]> => {
    const asked = groups.map(({ calls }) => partsOf(calls, slot))
    const refused = new Set<number>()
    for (;;) {
      const parts = asked.flatMap((group, index) => (refused.has(index) ? group.map(looking) : group))
      const ask = together((some) => send('peek', some, options))
      const seen = await Promise.all(parts.map(ask))
      let at = 0
      const answers = asked.map((group) => group.map((part) => ({ part, verdict: seen[at++] as GroupVerdict })))
      // A group over several slots that would be denied takes nothing in a slot that would allow it, so later groups are checked again.
      const next = answers.findIndex(
        (group, index) => group.length > 1 && !refused.has(index) && group.some(({ verdict }) => verdict.outcome !== 'allowed'),
      )
      if (next === -1)
        return settled(await Promise.all(answers.map((some, index) => waited(asked[index] as readonly Part[], joinParts(some), options))))
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

/** The methods that not every store has. */
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

/** Tokens were charged and may not be returned: a caller that retries must know. */
function inDoubt(verdict: GroupVerdict): GroupVerdict {
  const { kind = 'unavailable', message = 'no reason', cause } = verdict.degraded ?? {}
  return { ...verdict, degraded: new StoreFailure(kind, 'unknown', message, { cause }) }
}
