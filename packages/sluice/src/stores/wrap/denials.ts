import type { MonotonicInstant } from '../../time/time.ts'
import type { Call, CallGroup, GroupVerdict, Scope, StateId } from '../store.ts'

/** A denial that is remembered, and the question that it answers. */
export interface Denial {
  readonly calls: readonly Call[]
  readonly verdict: GroupVerdict
  readonly heardAt: MonotonicInstant
  /** It answers before this instant only. */
  readonly until: MonotonicInstant
  dropped: boolean
}

/** Denials of one state that are kept at once: questions of more costs or other groups go to the store. */
const PER_STATE = 4

/** Denials by the state of a call that was denied; the oldest goes when there is no room. */
export class Denials {
  readonly #byScope = new Map<Scope, Map<string, Denial[]>>()
  readonly #most: number
  /** In order of arrival, dropped ones included. */
  #queue: Denial[] = []
  #head = 0

  constructor(most: number) {
    this.#most = most
  }

  get empty(): boolean {
    return this.#byScope.size === 0
  }

  find({ calls }: CallGroup, now: MonotonicInstant): Denial | undefined {
    for (let index = 0; index < calls.length; index += 1) {
      const { id } = calls[index] as Call
      const kept = this.#byScope.get(id.scope)?.get(id.key)
      if (kept === undefined) continue
      for (let at = 0; at < kept.length; at += 1) {
        const denial = kept[at] as Denial
        if (now < denial.until && same(denial.calls, calls)) return denial
      }
    }
    return undefined
  }

  /** @param id of a call that was denied */
  add(id: StateId, denial: Denial, now: MonotonicInstant): void {
    this.#makeRoom(now)
    let keys = this.#byScope.get(id.scope)
    if (keys === undefined) this.#byScope.set(id.scope, (keys = new Map()))
    const kept = keys.get(id.key)
    const others = (kept ?? []).filter((one) => !same(one.calls, denial.calls)).slice(1 - PER_STATE)
    keys.set(id.key, [...others, denial])
    this.#queue.push(denial)
  }

  /** Drops whatever asks one of these states. */
  dropAbout(ids: readonly StateId[]): void {
    for (let at = this.#head; at < this.#queue.length; at += 1) {
      const denial = this.#queue[at] as Denial
      const about = denial.calls.some(({ id }) => ids.some(({ scope, key }) => scope.text === id.scope.text && key === id.key))
      if (about) this.#drop(denial)
    }
  }

  clear(): void {
    this.#byScope.clear()
    this.#queue = []
    this.#head = 0
  }

  /** Those that are over go first: each lives about as long as the others, so they are at the front. */
  #makeRoom(now: MonotonicInstant): void {
    for (let first = this.#queue[this.#head]; first !== undefined; first = this.#queue[this.#head]) {
      if (!first.dropped && now < first.until && this.#queue.length - this.#head < this.#most) break
      this.#head += 1
      this.#drop(first)
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
  }

  #drop(denial: Denial): void {
    if (denial.dropped) return
    denial.dropped = true
    for (const { id } of denial.calls) {
      const keys = this.#byScope.get(id.scope)
      const kept = keys?.get(id.key)?.filter((one) => one !== denial)
      if (keys === undefined || kept === undefined) continue
      if (kept.length > 0) keys.set(id.key, kept)
      else keys.delete(id.key)
      if (keys.size === 0) this.#byScope.delete(id.scope)
    }
  }
}

/** The same limits of the same keys, at the same costs, in the same order. */
function same(one: readonly Call[], other: readonly Call[]): boolean {
  if (one.length !== other.length) return false
  for (let index = 0; index < one.length; index += 1) {
    const a = one[index] as Call
    const b = other[index] as Call
    if (a.cost !== b.cost || a.limit !== b.limit || a.id.key !== b.id.key || a.id.scope !== b.id.scope) return false
  }
  return true
}
