import type { CallOptions } from '../store.ts'
import type { Asking } from './turns.ts'

/** How items of several callers become one call of a store. */
export interface Joint<Item, Answer> {
  send(items: readonly Item[], options: CallOptions | undefined): Promise<readonly Answer[]>
  /** Calls in an item. */
  weigh(item: Item): number
  /** The states that an item asks, as texts. */
  namesOf(item: Item): readonly string[]
  /** The key of one of an item's calls: alike wherever states are, and at hand. */
  keyAt(item: Item, index: number): string
}

/** An operation that travels alone, and the states that it touches. */
export interface Alone {
  run(): Promise<unknown>
  readonly names: readonly string[]
}

type Settle<Value> = (value: Value) => void

/** One caller: for a joint call, or for its turn to run alone. It is answered once, whatever happens after. */
export class Waiting<Item> implements Asking {
  readonly items: readonly Item[]
  readonly weight: number
  readonly options: CallOptions | undefined
  readonly alone: Alone | undefined
  readonly #joint: Pick<Joint<Item, never>, 'namesOf' | 'weigh' | 'keyAt'>
  readonly #resolve: Settle<never>
  readonly #reject: Settle<unknown>
  #abort: (() => void) | undefined
  settled = false

  constructor(
    joint: Joint<Item, never>,
    items: readonly Item[],
    options: CallOptions | undefined,
    alone: Alone | undefined,
    resolve: Settle<never>,
    reject: Settle<unknown>,
  ) {
    this.items = items
    this.options = options
    this.alone = alone
    this.#joint = joint
    this.#resolve = resolve
    this.#reject = reject
    let weight = alone === undefined ? 0 : 1
    for (let index = 0; index < items.length; index += 1) weight += joint.weigh(items[index] as Item)
    this.weight = weight
  }

  names(): readonly string[] {
    return this.alone?.names ?? this.items.flatMap((item) => this.#joint.namesOf(item))
  }

  mark(into: Set<string>): void {
    const joint = this.#joint
    for (const item of this.items) for (let at = joint.weigh(item) - 1; at >= 0; at -= 1) into.add(joint.keyAt(item, at))
  }

  meets(marked: ReadonlySet<string>): boolean {
    const joint = this.#joint
    for (const item of this.items) for (let at = joint.weigh(item) - 1; at >= 0; at -= 1) if (marked.has(joint.keyAt(item, at))) return true
    return false
  }

  listen(signal: AbortSignal, abort: () => void): void {
    this.#abort = abort
    signal.addEventListener('abort', abort, { once: true })
  }

  give(answer: unknown): void {
    if (this.#first()) this.#resolve(answer as never)
  }

  fail(error: unknown): void {
    if (this.#first()) this.#reject(error)
  }

  #first(): boolean {
    if (this.settled) return false
    this.settled = true
    if (this.#abort !== undefined) this.options?.signal?.removeEventListener('abort', this.#abort)
    return true
  }
}
