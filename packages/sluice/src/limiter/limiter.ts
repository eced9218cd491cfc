/// <reference lib="esnext.disposable" preserve="true" />
import type { AnyLimit } from '../algorithms/algorithm.ts'
import { validCost } from '../algorithms/decimal.ts'
import type { Decision } from '../decision/decision.ts'
import { LimiterError } from '../errors/limiter-error.ts'
import { encodeKey, scopeOf, validKey } from '../keys/encode.ts'
import { notify, type Observer } from '../observe/events.ts'
import type { Call, CallGroup, CallOptions, GroupVerdict, StateId, Store } from '../stores/store.ts'
import type { Time } from '../time/time.ts'
import { askStore, type Patience, timingOf } from './ask.ts'
import { decisionOf, type NamedLimit, resultsOf } from './decide.ts'

/** `signal` gives up waiting for a remote store: the decision is then `undecided`. */
export interface CheckOptions extends Patience {
  /** Tokens this call takes; above 0, at most six decimals; default 1. */
  readonly cost?: number
}

export interface CheckRequest {
  readonly key: string
  readonly cost?: number
}

export interface LimiterParts {
  readonly name: string
  /** Every check asks all of them, all or nothing. */
  readonly limits: Readonly<Record<string, AnyLimit>>
  readonly store: Store
  readonly clock: Time
  readonly deadlineMs: number
  readonly observers: readonly Observer[]
  /** Runs when the limiter is closed. */
  readonly onClose: () => Promise<void>
}

/** One or several named limits over one store, asked by key. */
export interface Limiter extends AsyncDisposable {
  readonly name: string
  /** Charges every limit of the key, all or nothing. Rejects only for misuse (a LimiterError), never for a failing store. */
  check(key: string, options?: CheckOptions): Promise<Decision>
  /** As `check`, at once; only where the store is synchronous. */
  checkSync(key: string, options?: Pick<CheckOptions, 'cost'>): Decision
  /** Several checks in one store call, decided in order, each on its own. */
  checkMany(requests: readonly CheckRequest[], options?: Omit<CheckOptions, 'cost'>): Promise<Decision[]>
  /** What `check` would answer, charging nothing. */
  peek(key: string, options?: CheckOptions): Promise<Decision>
  /** Forgets the key: its next check finds it fresh. Rejects with the StoreFailure if the store cannot. */
  reset(key: string): Promise<void>
  /** Resolves when the store can decide. */
  ready(): Promise<void>
  close(): Promise<void>
}

interface ScopedLimit extends NamedLimit {
  readonly scope: string
}

/** Builds a limiter from its parts; `createLimiter` is the door that fills in the defaults. */
export function buildLimiter(parts: LimiterParts): Limiter {
  const { name, store, clock, observers } = parts
  const where = `limiter ${name}`
  const limits = Object.entries(parts.limits).map(([limitName, limit]): ScopedLimit => {
    if (typeof limit?.algorithm?.decide !== 'function')
      throw new LimiterError('INVALID_OPTIONS', `${where}: limit ${limitName} is no limit; expected one made by tokenBucket`)
    return { name: limitName, limit, scope: scopeOf(name, limitName, limit.algorithm.tag) }
  })
  if (limits.length === 0) throw new LimiterError('INVALID_OPTIONS', `${where}: no limit given; expected limit or limits with at least one`)
  let closed = false

  const groupOf = (key: string, cost = 1): CallGroup => {
    if (closed) throw new LimiterError('CLOSED', `${where} is closed`)
    const charged = validCost(cost)
    const encoded = encodeKey(validKey(where, key))
    return { calls: limits.map(({ scope, limit }): Call => ({ id: { scope, key: encoded }, limit, cost: charged })) }
  }
  const timing = (options?: Patience): CallOptions => timingOf(where, store, clock, parts.deadlineMs, options)
  const finish = (verdict: GroupVerdict, started: number): Decision => {
    const decision = decisionOf(verdict, limits, clock.now())
    if (observers.length > 0)
      notify(observers, {
        limiter: name,
        store: store.name ?? 'store',
        decision,
        results: resultsOf(verdict, limits),
        durationMs: clock.monotonic() - started,
      })
    return decision
  }
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    await parts.onClose()
  }
  return {
    name,
    async check(key, options) {
      const group = groupOf(key, options?.cost)
      const started = clock.monotonic()
      const [verdict] = await askStore(store, 'consume', [group], timing(options))
      return finish(verdict as GroupVerdict, started)
    },
    checkSync(key, options) {
      if (store.consumeSync === undefined)
        throw new LimiterError('NOT_SYNCHRONOUS', `${where}: its store answers only asynchronously; use check`)
      const group = groupOf(key, options?.cost)
      const started = clock.monotonic()
      return finish(store.consumeSync(group), started)
    },
    async checkMany(requests, options) {
      const groups = requests.map(({ key, cost }) => groupOf(key, cost))
      if (groups.length === 0) return []
      const started = clock.monotonic()
      const verdicts = await askStore(store, 'consume', groups, timing(options))
      return verdicts.map((verdict) => finish(verdict, started))
    },
    async peek(key, options) {
      const [verdict] = await askStore(store, 'peek', [groupOf(key, options?.cost)], timing(options))
      return decisionOf(verdict as GroupVerdict, limits, clock.now())
    },
    async reset(key) {
      const ids: StateId[] = groupOf(key).calls.map(({ id }) => id)
      await store.reset(ids, timing())
    },
    ready: () => store.ready(timing({ deadlineMs: 5_000 })),
    close,
    [Symbol.asyncDispose]: close,
  }
}
