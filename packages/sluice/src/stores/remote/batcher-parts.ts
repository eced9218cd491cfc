import type { Deadlines } from '../../time/deadlines.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import type { StoreFailure } from '../store.ts'
import type { Answered } from './answers.ts'
import type { QueueOptions } from './queue.ts'

/** What a batcher works with, except other batchers. */
export interface BatcherOptions<Item, Answer extends Answered> extends QueueOptions<Item> {
  /** Of the store, for messages. */
  readonly name: string
  readonly clock: Time
  readonly deadlines: Deadlines
  /** The most batches in flight at once. Infinity: none waits for another. */
  readonly maxInFlight: number
  /** Milliseconds after which a batch in flight leaves its slot to another: its callers may have long deadlines, others have not. */
  readonly slotMs: number
  /** Whether the server is working on a batch of another kind, of the same lane. Absent: never. */
  isBusy?(): boolean
  /** Sends a batch. Resolves with one answer for each item, in order. */
  send(items: readonly Item[], deadline: MonotonicInstant): Promise<readonly Answer[]>
  /**
   * Counts a batch that was answered or has failed.
   * @param isPrompt whether a caller had waited for at most half of the time between its call and its deadline when the batch was sent:
   * only then does a timeout say something about the server
   */
  count(answers: readonly Answered[], isPrompt: boolean): void
  /** Reports a failure that was not sent again, because the deadlines of its callers had passed. */
  gaveUp(failure: StoreFailure): void
  /** Returns what to wait for before a caller is refused because too many wait; undefined: refuse at once. */
  readonly pace: () => Promise<void> | undefined
  /** Called when nothing waits and nothing is in flight. */
  onIdle(): void
}
