import { MICRO } from '../../../algorithms/decimal.ts'
import type { Time } from '../../../time/time.ts'
import type { Call, CallGroup, GroupVerdict, Scope, Store } from '../../store.ts'
import { failedBy } from '../../store.ts'
import { FULL, type NewKeys, type OnFull, sharedScope } from './new-keys.ts'
import type { Spread, Spreading } from './salt.ts'
import { SharedDenials } from './shared-denials.ts'

/** How many overflow states a limit has. Those of its keys that may not be created share them. */
const SHARED = 1_024
/** The most limits whose overflow states this process knows: which of them were emptied. */
const REMEMBERED = 256

/**
 * Wraps a store so that `onFull` decides groups whose new keys may not be created. With `shared`, one more call to the server decides all
 * such groups of one `decide`.
 * @param spreading resolves with the function that spreads keys over overflow states; called when such a state is needed
 */
export function withOverflow(
  store: Store,
  onFull: OnFull | undefined,
  isClosed: NewKeys['closed'],
  spreading: Spreading,
  clock: Time,
): Store {
  const shared = createShared(store, isClosed, spreading, clock)
  const decide: Store['decide'] = async (groups, options) => {
    const verdicts = await store.decide(groups, options)
    if (!verdicts.some(isRefused)) return verdicts
    const shares = ({ calls }: CallGroup, index: number): boolean =>
      onFull === 'shared' && isRefused(verdicts[index] as GroupVerdict) && calls.every(canShare)
    const sharing = groups.filter(shares)
    const answers = sharing.length === 0 ? [] : [...(await shared(sharing, options))]
    return groups.map((group, index) => {
      if (shares(group, index)) return answers.shift() as GroupVerdict
      const verdict = verdicts[index] as GroupVerdict
      return isRefused(verdict) ? refusal(onFull) : verdict
    })
  }
  return {
    ...store,
    decide,
    ready: async (options) => {
      await store.ready(options)
      if (onFull === 'shared') await spreading(options)
    },
  }
}

function isRefused({ failure }: GroupVerdict): boolean {
  return failure === FULL
}

/** Whether a call can be decided by an overflow state. Logs have none, because a log may be long. */
function canShare({ limit }: Call): boolean {
  return limit.algorithm.cells !== 'log'
}

/** The verdict of a group whose states may not be created. With `shared`, only groups with logs get this verdict, and they are denied. */
function refusal(onFull: OnFull | undefined): GroupVerdict {
  return onFull === undefined ? { failure: FULL } : { failure: FULL, onFull: onFull === 'allow' ? 'allow' : 'deny' }
}

/** The overflow states of one limit: which of them were emptied, and their recent denials. */
interface SharedStates {
  readonly scope: Scope
  readonly emptied: Set<string>
  readonly denials: SharedDenials
}

/** A call, with an overflow state in place of its own state if that may not be created. `states` is set in this case. */
interface SharedCall {
  readonly call: Call
  readonly states?: SharedStates
}

/** Makes a `decide` that uses overflow states in place of states that may not be created. It calls the store at most once. */
function createShared(store: Store, isClosed: NewKeys['closed'], spreading: Spreading, clock: Time): Store['decide'] {
  const scopes = new Map<string, SharedStates>()
  const newStates = (text: string): SharedStates => {
    return { scope: sharedScope(text), emptied: new Set(), denials: new SharedDenials(clock) }
  }
  const statesOf = (text: string): SharedStates => {
    const known = scopes.get(text) ?? newStates(text)
    const [oldest] = scopes.keys()
    if (oldest !== undefined && scopes.size >= REMEMBERED && !scopes.has(text)) scopes.delete(oldest)
    scopes.set(text, known)
    return known
  }
  const sharedCall = (call: Call, spread: Spread): SharedCall => {
    const { text } = call.id.scope
    // Keys of this scope may be created again since the first decision. Then the call has its own state.
    if (!isClosed(text)) return { call }
    const states = statesOf(text)
    return { call: { ...call, id: { scope: states.scope, key: String(spread(call.id.key) % SHARED) } }, states }
  }
  const decide: Store['decide'] = async (groups, options) => {
    const spread = await spreading(options)
    const shared = groups.map(({ calls }) => calls.map((call) => sharedCall(call, spread)))
    const charge = options?.charge !== false
    const caches = charge && options?.now === undefined
    const verdicts = shared.map((calls): GroupVerdict | undefined =>
      caches ? denialsOf(calls)?.find((calls[0] as SharedCall).call) : undefined,
    )
    const open = [...groups.keys()].filter((index) => verdicts[index] === undefined)
    if (open.length > 0) {
      const full = stillFull(open.flatMap((index) => shared[index] as SharedCall[]))
      const callsOf = (index: number): Call[] => (shared[index] as SharedCall[]).map(({ call }) => call)
      const own = open.map((index) => ({ ...groups[index], calls: callsOf(index) }))
      const sentAt = clock.monotonic()
      const answers = await store.decide([...full.map(emptying), ...own], options)
      for (const [index, { call, states }] of full.entries()) {
        if (charge && answers[index]?.failure === undefined) states?.emptied.add(call.id.key)
      }
      for (const [at, index] of open.entries()) {
        const verdict = answers[full.length + at] as GroupVerdict
        const calls = shared[index] as SharedCall[]
        if (caches && verdict.failure === undefined) denialsOf(calls)?.add((calls[0] as SharedCall).call, verdict, sentAt)
        verdicts[index] = verdict
      }
    }
    return shared.map((calls, index) => marked(calls, verdicts[index] as GroupVerdict))
  }
  return async (groups, options) => {
    try {
      return await decide(groups, options)
    } catch (error) {
      // Groups with existing keys have their verdicts already, so a failure here must not fail them too.
      const failed = failedBy(error)
      return groups.map(() => failed)
    }
  }
}

/** The cache for denials of a group. Undefined for a group of several calls, because their denials are not cached. */
function denialsOf([only, ...more]: readonly SharedCall[]): SharedDenials | undefined {
  return more.length === 0 ? only?.states?.denials : undefined
}

/** For each overflow state that this process has not recorded as emptied, one of its calls. */
function stillFull(calls: readonly SharedCall[]): SharedCall[] {
  const seen = new Map<SharedStates, Set<string>>()
  return calls.filter(({ call: { id }, states }) => {
    if (states === undefined || states.emptied.has(id.key)) return false
    const keys = seen.get(states) ?? new Set()
    seen.set(states, keys)
    if (keys.has(id.key)) return false
    keys.add(id.key)
    return true
  })
}

/**
 * A group that empties an overflow state, so that a flood of new keys gets no burst. Its cost is the whole capacity, so it passes only if
 * the state is full. If another process uses the state already, it is not full, and nothing is charged.
 */
function emptying({ call }: SharedCall): CallGroup {
  return { calls: [{ ...call, cost: Math.round(call.limit.capacity * MICRO) }] }
}

function marked(calls: readonly SharedCall[], verdict: GroupVerdict): GroupVerdict {
  if (verdict.failure !== undefined || calls.every(({ states }) => states === undefined)) return verdict
  const overflowed = calls.some(({ states }, index) => states && verdict.calls[index]?.outcome === 'denied')
  return { ...verdict, degraded: FULL, ...(overflowed ? { reason: 'overflow' as const } : {}) }
}
