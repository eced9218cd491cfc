import type { Time } from 'sluice'
import type { ContestantKind, Promised, Quota } from '../../contestants/contestant.ts'

/** Decides one request in this process. Contestants whose users must await the answer return a promise. */
export type Decide = (key: string, cost: number) => boolean | Promise<boolean>

export interface OpenOptions {
  /** The number of different keys that the load has. A contestant with a bound on its keys must have room for all of them. */
  readonly keys: number
  /** Replaces the process's clock, for contestants that take one. */
  readonly clock?: Time
}

/** A limiter in this process, as its own middleware would call it. */
export interface MemoryContestant {
  readonly name: string
  readonly kind: ContestantKind
  /** As in `Contestant`; default `bucket`. */
  readonly promise?: Promised
  /** Whether `decide` returns promises. */
  readonly awaited?: true
  /** Makes a limiter that allows a request if all of these limits do. A floor allows every request. */
  open(quotas: readonly Quota[], options: OpenOptions): Opened | Promise<Opened>
}

export interface Opened {
  readonly decide: Decide
  /** Stops the timers of the limiter. `keys` are all keys that it was called with. */
  close?(keys: readonly string[]): void
}

type Sync = (key: string, cost: number) => boolean
type Async = (key: string, cost: number) => Promise<boolean>

/** Several limiters one after the other, up to the first that denies. A single one is called directly. */
export function inTurn(limiters: readonly Sync[]): Sync {
  const [only, ...more] = limiters
  if (only !== undefined && more.length === 0) return only
  return (key, cost) => {
    for (const decide of limiters) if (!decide(key, cost)) return false
    return true
  }
}

/** As `inTurn`, awaiting each. */
export function inTurnAwaited(limiters: readonly Async[]): Async {
  const [only, ...more] = limiters
  if (only !== undefined && more.length === 0) return only
  return async (key, cost) => {
    for (const decide of limiters) if (!(await decide(key, cost))) return false
    return true
  }
}

/** As `unitByUnit`, without promises. */
export function unitByUnitSync(increase: (key: string) => boolean): Sync {
  return (key, cost) => {
    let allowed = increase(key)
    for (let unit = 1; unit < cost; unit += 1) allowed = increase(key)
    return allowed
  }
}

/** A counter that knows no costs is increased once for each token, and the last answer counts. */
export function unitByUnit(increase: (key: string) => Promise<boolean>): Async {
  return async (key, cost) => {
    let allowed = await increase(key)
    for (let unit = 1; unit < cost; unit += 1) allowed = await increase(key)
    return allowed
  }
}
