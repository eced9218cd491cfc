import type { Deadlines } from '../../time/deadlines.ts'
import type { Time } from '../../time/time.ts'
import type { DecideOptions, StoreFailure } from '../store.ts'
import type { Answered } from './answers.ts'
import type { QueueOptions } from './queue.ts'

/** How a batch ended. */
export interface Counted {
  /** Whether the store returned answers, and did not reject the batch. */
  readonly isReply: boolean
  /**
   * Whether one of the batch's callers had waited for at most half of the time between its call and its deadline when the batch was sent.
   * Only then does a timeout say something about the server.
   */
  readonly isPrompt: boolean
}

/** What a batcher works with, except other batchers. */
export interface BatcherOptions<Item, Answer extends Answered> extends QueueOptions<Item> {
  /** Name of the store, for messages. */
  readonly name: string
  readonly clock: Time
  readonly deadlines: Deadlines
  /** The most batches in flight at once. Infinity: no batch waits for another. */
  readonly maxInFlight: number
  /**
   * Milliseconds after which a batch in flight does not count towards `maxInFlight` any more. The callers of a batch may have long
   * deadlines, and the callers of the next batch should not wait that long.
   */
  readonly slotMs: number
  /** Whether another batcher has a batch in flight to the same servers (changes of holds for decisions, and vice versa). Absent: never. */
  isBusy?(): boolean
  /** Sends a batch. Resolves with one answer for each item, in order. `options` are `sendOptions` and the deadline. */
  send(items: readonly Item[], options: DecideOptions): Promise<readonly Answer[]>
  readonly sendOptions?: DecideOptions
  /** Counts a batch that has ended. `answers` has one for each item; empty if the failure was not the store's. */
  count(items: readonly Item[], answers: readonly Answered[], how: Counted): void
  /** Reports the failure of items that were not executed, and could not be sent again because the deadlines of their callers had passed. */
  gaveUp(failure: StoreFailure): void
  /**
   * Called before a caller is refused because too many calls wait. Returns a promise to wait for before the refusal; undefined: refuse at
   * once.
   */
  readonly pace: () => Promise<void> | undefined
  /** Called when nothing waits and nothing is in flight. */
  onIdle(): void
}
