import type { AlgorithmTag, AnyLimit, Step } from '../../../algorithms/algorithm.ts'
import type { Scope } from '../../store.ts'
import type { Digester, Seed } from './digest.ts'
import type { States } from './states.ts'

/** The store's data about one limit, cached so that a call need not look it up. */
export interface KnownLimit {
  readonly tag: AlgorithmTag
  readonly seed: Seed
  readonly states: States
  /** Overwritten by each decision. */
  readonly step: Step<unknown>
  readonly state: unknown
  /** Plan id of the last state that was written. */
  unit: number
  /** The last key and its digest: a hot key is digested once. */
  key: string
  lo: number
  hi: number
}

/** The cached data of limits, by their scope object, and dropped with it. */
export class KnownLimits {
  #known = new WeakMap<Scope, KnownLimit>()
  readonly #digester: Digester
  readonly #statesOf: (limit: AnyLimit) => States
  #lastScope: Scope | undefined
  #last: KnownLimit | undefined

  constructor(digester: Digester, statesOf: (limit: AnyLimit) => States) {
    this.#digester = digester
    this.#statesOf = statesOf
  }

  /** The cached data of a limit, with the digest of the key. */
  find(scope: Scope, key: string, limit: AnyLimit): KnownLimit {
    let known = scope === this.#lastScope ? this.#last : this.#known.get(scope)
    if (known === undefined || known.tag !== limit.algorithm.tag) {
      known = this.#make(scope, limit)
      this.#known.set(scope, known)
    }
    this.#lastScope = scope
    this.#last = known
    if (known.key !== key) this.#digest(known, key)
    return known
  }

  /** Digest of a key under a scope, without the limit; without a tag, that of its block. */
  locate({ text }: Scope, tag: AlgorithmTag | '', key: string): { readonly lo: number; readonly hi: number } {
    this.#digester.digest(this.#digester.seed(text + tag), key)
    return { lo: this.#digester.lo, hi: this.#digester.hi }
  }

  #make({ text }: Scope, limit: AnyLimit): KnownLimit {
    const { tag } = limit.algorithm
    const step: Step<unknown> = limit.algorithm.step()
    const state: unknown = limit.algorithm.step().next
    // Two scopes with equal text have the same states, because the seed depends on the text.
    const known: KnownLimit = {
      tag,
      seed: this.#digester.seed(text + tag),
      states: this.#statesOf(limit),
      step,
      state,
      unit: 0,
      key: '',
      lo: 0,
      hi: 0,
    }
    this.#digest(known, '')
    return known
  }

  #digest(known: KnownLimit, key: string): void {
    this.#digester.digest(known.seed, key)
    known.key = key
    known.lo = this.#digester.lo
    known.hi = this.#digester.hi
  }
}
