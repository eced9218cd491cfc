import { MICRO } from '../../../algorithms/decimal.ts'
import type { Time } from '../../../time/time.ts'
import type { Call, CallGroup, GroupVerdict, Scope, Store } from '../../store.ts'
import { failedBy } from '../../store.ts'
import { FULL, type NewKeys, type OnFull, sharedScope } from './new-keys.ts'
import type { Spread, Spreading } from './salt.ts'
import { SharedDenials } from './shared-denials.ts'

/** How many overflow states the keys of a limit share. */
const SHARED = 1_024
/** The most limits whose overflow states are remembered. */
const REMEMBERED = 256

/**
 * With `onFull: 'shared'`, requests whose new keys may not be created are decided by the overflow states, unless they are charged to a
 * sliding window log: these are denied. One more call to the store decides all such requests of a batch.
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

/** Logs have no overflow states, because a log may be long. */
function canShare({ limit }: Call): boolean {
  return limit.algorithm.cells !== 'log'
}

/** With `shared`, only groups with logs get here, and are denied. */
function refusal(onFull: OnFull | undefined): GroupVerdict {
  return onFull === undefined ? { failure: FULL } : { failure: FULL, onFull: onFull === 'allow' ? 'allow' : 'deny' }
}

interface SharedStates {
  readonly scope: Scope
  readonly emptied: Set<string>
  readonly denials: SharedDenials
}

/** `states` is set if the call has an overflow state instead of its own. */
interface SharedCall {
  readonly call: Call
  readonly states?: SharedStates
}

/** Calls the store at most once. */
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
    // If new keys of the scope are allowed again since the store refused the call, the call's own state decides.
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

/** Denials of groups of several calls are not cached. */
function denialsOf([only, ...more]: readonly SharedCall[]): SharedDenials | undefined {
  return more.length === 0 ? only?.states?.denials : undefined
}

/**
 * One call for each overflow state (a state that new keys share while the store is full), unless this process has already taken the tokens
 * that the state starts with.
 */
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

/** Empties an overflow state, so that a flood of new keys gets no burst. It costs the whole capacity, so a state in use is not charged. */
function emptying({ call }: SharedCall): CallGroup {
  return { calls: [{ ...call, cost: Math.round(call.limit.capacity * MICRO) }] }
}

function marked(calls: readonly SharedCall[], verdict: GroupVerdict): GroupVerdict {
  if (verdict.failure !== undefined || calls.every(({ states }) => states === undefined)) return verdict
  const overflowed = calls.some(({ states }, index) => states && verdict.calls[index]?.outcome === 'denied')
  return { ...verdict, degraded: FULL, ...(overflowed ? { reason: 'overflow' as const } : {}) }
}
