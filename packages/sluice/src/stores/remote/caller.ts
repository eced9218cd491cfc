import type { MonotonicInstant } from '../../time/time.ts'

/** What a caller waits for. `deadline` is hard. */
export interface Waiting {
  readonly deadline: MonotonicInstant
  readonly signal?: AbortSignal | undefined
}

/** A caller, from its first item to the last answer. */
export class Caller<Item, Answer> implements Waiting {
  readonly items: readonly Item[]
  readonly deadline: MonotonicInstant
  readonly signal: AbortSignal | undefined
  readonly since: MonotonicInstant
  readonly answers: (Answer | undefined)[]
  /** Index of the first item that is not sent. */
  next = 0
  /** Items without an answer. */
  open: number
  onAbort: (() => void) | undefined
  readonly reject: (error: unknown) => void
  readonly #resolve: (answers: readonly Answer[]) => void

  constructor(
    items: readonly Item[],
    { deadline, signal }: Waiting,
    since: MonotonicInstant,
    resolve: (answers: readonly Answer[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.reject = reject
    this.items = items
    this.since = since
    this.deadline = deadline
    this.signal = signal
    this.answers = items.length === 1 ? [undefined] : Array.from({ length: items.length })
    this.open = items.length
    this.#resolve = resolve
  }

  /** The first answer to each item counts. */
  answer(index: number, answer: Answer): void {
    if (this.answers[index] !== undefined) return
    this.answers[index] = answer
    this.open -= 1
    if (this.open > 0) return
    if (this.onAbort !== undefined) this.signal?.removeEventListener('abort', this.onAbort)
    this.#resolve(this.answers as Answer[])
  }
}

/** Neighbouring items of one caller in a batch. */
export interface Part<Item, Answer> {
  readonly caller: Caller<Item, Answer>
  readonly from: number
  readonly to: number
}
