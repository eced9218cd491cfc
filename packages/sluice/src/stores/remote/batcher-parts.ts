import type { Deadlines } from '../../time/deadlines.ts'
import type { Time } from '../../time/time.ts'
import type { DecideOptions, StoreFailure } from '../store.ts'
import type { Answered } from './answers.ts'
import type { QueueOptions } from './queue.ts'

export interface Counted {
  /** Whether the store returned answers instead of rejecting the batch. */
  readonly isReply: boolean
  /**
   * Whether one of the batch's callers had waited for at most half of the time to its deadline when the batch was sent. Otherwise a timeout
   * says nothing about the server.
   */
  readonly isPrompt: boolean
}

export interface BatcherOptions<Item, Answer extends Answered> extends QueueOptions<Item> {
  readonly name: string
  readonly clock: Time
  readonly deadlines: Deadlines
  readonly maxInFlight: number
  /** Milliseconds after which a batch in flight no longer counts towards `maxInFlight`, because its callers may have long deadlines. */
  readonly slotMs: number
  /** Whether another batcher has a batch in flight to the same servers. Absent: never. */
  isBusy?(): boolean
  /** Resolves with one answer per item, in order. */
  send(items: readonly Item[], options: DecideOptions): Promise<readonly Answer[]>
  readonly sendOptions?: DecideOptions
  /** Called when a batch has ended. `answers` has one for each item, or none if `send` failed by an error that is not a StoreFailure. */
  count(items: readonly Item[], answers: readonly Answered[], how: Counted): void
  /** Called with the failure of items whose deadlines passed before they could be sent again. */
  gaveUp(failure: StoreFailure): void
  /** Called before a refusal because too many calls wait. Returns a promise that the refusal waits for, or undefined. */
  readonly pace: () => Promise<void> | undefined
  onIdle(): void
}
