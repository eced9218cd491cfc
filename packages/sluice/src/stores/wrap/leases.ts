import { checkOptions, CLOCK, COUNT, type Form, FUNCTION, requireForm, STORE, within } from '../../errors/options.ts'
import { createDeadlines } from '../../time/deadlines.ts'
import { systemSecret, systemTime } from '../../time/system.ts'
import type { Micros } from '../../time/micros.ts'
import type { MonotonicInstant, Random, Time } from '../../time/time.ts'
import type { MicroTokens } from '../../algorithms/algorithm.ts'
import {
  type Call,
  type CallGroup,
  type CallOptions,
  type GroupVerdict,
  type StateId,
  type Store,
  StoreFailure,
  type Verdict,
} from '../store.ts'
import type { Hand } from './hand.ts'
import { Hands } from './hands.ts'

export interface LeasesOptions {
  /** Milliseconds that a lease lasts at the store; default 1,000. What a crash takes with it is missing for so long. */
  readonly lifeMs?: number
  /** Part of a bucket's burst that this process has in hand at most; default a quarter. */
  readonly share?: number
  /** A key is leased once it was called so often within one life; default 16. */
  readonly afterCalls?: number
  /** Keys looked after at once; further ones are asked at the store. Default 10,000. */
  readonly maxKeys?: number
  readonly clock?: Time
  /** Makes this process's number among the holders. */
  readonly random?: Random
}

export interface LeasedStore extends Store {
  /** Tokens in hand now, over all keys. */
  readonly tokensInHand: number
}

const FORMS: Readonly<Record<string, Form>> = {
  lifeMs: within(10, 60_000),
  share: within(0.001, 1),
  afterCalls: COUNT,
  maxKeys: COUNT,
  clock: CLOCK,
  random: FUNCTION,
}
/** How long `close` lets tokens travel home. */
const HOME_MS = 1_000

/**
 * Decides calls of busy token buckets in this process, from tokens that the store gave it in advance. Strict: what is in hand anywhere and what is in the bucket is
 * never more than the burst, so the bound G is that of the store; tokens that are lost with a process, a request or an answer are missing until their lease ends, and
 * nothing else is. More is asked for before a hand is empty, idle tokens go back within half a life, and all are dropped after the machine has slept. A
 * `remaining` with source `lease` is what this process can certainly still admit; a block or a penalty made elsewhere is felt when a hand is filled next. Other
 * algorithms, quiet keys, costs above a quarter of what may be in hand, and stores without leases are asked as ever; of a group, the limits that are in hand are
 * taken from there, and given back where the store refuses the rest.
 * @throws LimiterError INVALID_OPTIONS
 */
export function withLeases(store: Store, options: LeasesOptions = {}): LeasedStore {
  requireForm('withLeases', 'store', store, STORE)
  checkOptions('withLeases', options, FORMS)
  const { lifeMs = 1_000, share = 0.25, afterCalls = 16, maxKeys = 10_000, clock = systemTime, random = systemSecret } = options
  const lease = store.lease?.bind(store)
  const adjust = store.adjust?.bind(store)
  const block = store.block?.bind(store)
  const deadlines = createDeadlines(clock)
  const hands = lease === undefined ? undefined : new Hands({ lease, clock, random, lifeMs, share, afterCalls, maxKeys })

  /** Waits for tokens that the hand was too short of. */
  const waitFor = (known: Hands, hand: Hand, group: CallGroup, cost: MicroTokens, callOptions: CallOptions | undefined) =>
    new Promise<readonly GroupVerdict[]>((resolve, reject) => {
      const { deadline, signal } = callOptions ?? {}
      const leave = (kind: 'timeout' | 'aborted', why: string): void => {
        const at = hand.waiters.indexOf(waiter)
        if (at !== -1) hand.waiters.splice(at, 1)
        waiter.fail(new StoreFailure(kind, 'no', `${store.name ?? 'store'}: ${why}`))
      }
      const abort = (): void => leave('aborted', 'aborted by the caller')
      const release = (): void => {
        cancel?.()
        signal?.removeEventListener('abort', abort)
      }
      const waiter = {
        cost,
        options: callOptions,
        give: (verdict: GroupVerdict | undefined) => {
          release()
          if (verdict === undefined) store.consume([group], callOptions).then(resolve, reject)
          else resolve([verdict])
        },
        fail: (failure: unknown) => {
          release()
          reject(failure)
        },
      }
      const cancel = deadline === undefined ? undefined : deadlines.add(deadline, () => leave('timeout', 'no tokens by the deadline'))
      if (signal?.aborted === true) return abort()
      signal?.addEventListener('abort', abort, { once: true })
      known.wait(hand, waiter)
    })

  const one = (known: Hands, group: CallGroup, call: Call, callOptions: CallOptions | undefined): Promise<readonly GroupVerdict[]> => {
    const now = clock.monotonic()
    const hand = known.find(call, now)
    if (hand === undefined || !hand.leased || call.cost > call.limit.plan.burst) return store.consume([group], callOptions)
    if (hand.waiters.length === 0 && known.spend(hand, call.cost, now)) return Promise.resolve([hand.verdict(now)])
    if (call.cost <= hand.most) return waitFor(known, hand, group, call.cost, callOptions)
    // What is in hand here must not stand in the way of a call that needs nearly all there is.
    return known.settle([call.id], callOptions).then(() => store.consume([group], callOptions))
  }

  /** Takes from the hands what they have, and asks the store for the rest: of one group, or of several at once. */
  const mixed = async (
    known: Hands,
    groups: readonly CallGroup[],
    callOptions: CallOptions | undefined,
  ): Promise<readonly GroupVerdict[]> => {
    const now = clock.monotonic()
    const { epoch } = known
    const parts = groups.map((group): Part => {
      const taken = group.calls.map((call) => known.take(call, now))
      return { group, taken, rest: group.calls.filter((_, index) => taken[index] === undefined) }
    })
    const giveBack = ({ group, taken }: Part): void =>
      taken.forEach((hand, index) => hand !== undefined && known.unspend(hand, (group.calls[index] as Call).cost, epoch))
    const asked = parts.filter(({ group, rest }) => rest.length > 0 || group.calls.length === 0)
    try {
      const told =
        asked.length === 0
          ? []
          : [
              ...(await store.consume(
                asked.map(({ group, rest }) => ({ ...group, calls: rest })),
                callOptions,
              )),
            ]
      if (told.length !== asked.length)
        throw new StoreFailure('protocol', 'unknown', `${store.name ?? 'store'}: not a verdict for each group`)
      return parts.map((part) => {
        if (!asked.includes(part))
          return { ...here, at: latest(part.taken, now), calls: part.taken.map((hand) => (hand as Hand).view(now)) }
        const verdict = told.shift() as GroupVerdict
        // What may have been charged counts as spent here too.
        if (!verdict.allowed && verdict.degraded?.executed !== 'unknown') giveBack(part)
        return joined(part, verdict, clock.monotonic())
      })
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.executed === 'no') parts.forEach(giveBack)
      throw error
    }
  }

  const settled = async <T>(ids: readonly StateId[], callOptions: CallOptions | undefined, run: () => Promise<T>): Promise<T> => {
    if (callOptions?.now === undefined) await hands?.settle(ids, callOptions)
    return run()
  }
  return {
    ...(store.name === undefined ? {} : { name: store.name }),
    capabilities: store.capabilities,
    get tokensInHand() {
      return hands === undefined ? 0 : hands.inHand / 1_000_000
    },
    ...(store.slotOf === undefined ? {} : { slotOf: store.slotOf.bind(store) }),
    ...(hands === undefined
      ? {}
      : {
          consumeHere({ calls }) {
            const [call] = calls
            return call === undefined || calls.length > 1 ? undefined : hands.decide(call, clock.monotonic())
          },
        }),
    consume(groups, callOptions) {
      const [first] = groups
      if (hands === undefined || callOptions?.now !== undefined || first === undefined) return store.consume(groups, callOptions)
      if (groups.length > 1 || first.calls.length !== 1) return mixed(hands, groups, callOptions)
      return one(hands, first, first.calls[0] as Call, callOptions)
    },
    ...(store.consumeSync === undefined ? {} : { consumeSync: store.consumeSync.bind(store) }),
    peek: (groups, callOptions) =>
      settled(
        groups.flatMap(({ calls }) => calls.map(({ id }) => id)),
        callOptions,
        () => store.peek(groups, callOptions),
      ),
    ...(adjust === undefined
      ? {}
      : {
          adjust: (calls, amounts, callOptions) =>
            settled(
              calls.map(({ id }) => id),
              callOptions,
              () => adjust(calls, amounts, callOptions),
            ),
        }),
    ...(block === undefined
      ? {}
      : { block: (ids, duration, callOptions) => settled(ids, callOptions, () => block(ids, duration, callOptions)) }),
    ...(lease === undefined ? {} : { lease }),
    reset: (ids, callOptions) => settled(ids, callOptions, () => store.reset(ids, callOptions)),
    ready: (callOptions) => store.ready(callOptions),
    async close() {
      await hands?.close({ deadline: clock.monotonic() + HOME_MS }).catch(() => {})
      await store.close()
    },
  }
}

/** A group, the hands that its calls were taken out of, and those that the store must decide. */
interface Part {
  readonly group: CallGroup
  readonly taken: readonly (Hand | undefined)[]
  readonly rest: readonly Call[]
}

const here = { outcome: 'allowed', allowed: true, source: 'lease' } as const

function latest(hands: Part['taken'], now: MonotonicInstant): Micros {
  return Math.max(...hands.map((hand) => (hand as Hand).at(now)))
}

/** The store's verdict of the rest, with what was taken from hands in its place. */
function joined({ taken }: Part, verdict: GroupVerdict, now: MonotonicInstant): GroupVerdict {
  if (verdict.calls.length === 0) return verdict
  const told = [...verdict.calls]
  return { ...verdict, calls: taken.map((hand) => hand?.view(now) ?? (told.shift() as Verdict)) }
}
