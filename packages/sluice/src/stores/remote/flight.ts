import type { MonotonicInstant } from '../../time/time.ts'
import type { ItemRange } from './queue.ts'

/** A batch in flight. */
export interface Flight<Item, Answer> {
  readonly ranges: readonly ItemRange<Item, Answer>[]
  readonly items: readonly Item[]
  readonly sentAt: MonotonicInstant
  /** How many calls left the queue for it; 0 for one caller's items, sent again alone after a LimiterError of their batch. */
  readonly weight: number
  /** The latest deadline of its callers. */
  readonly deadline: MonotonicInstant
}

export function flightOf<Item, Answer>(
  ranges: readonly ItemRange<Item, Answer>[],
  sentAt: MonotonicInstant,
  weight: number,
): Flight<Item, Answer> {
  const items: Item[] = []
  let deadline = 0
  for (const { caller, from, to } of ranges) {
    for (let index = from; index < to; index += 1) items.push(caller.items[index] as Item)
    deadline = Math.max(deadline, caller.deadline)
  }
  return { ranges, items, sentAt, weight, deadline }
}
