import type { CallOptions, Change } from '../stores/store.ts'
import type { StoreCaller } from './call-store.ts'

/** Gives back the charges of callers that wait no longer. */
export interface Leaves {
  /** The changes of one caller. Those of one tick are made in one store call. If the store fails, the callers stay charged. */
  add(store: StoreCaller, changes: readonly Change[]): void
}

/** @param timing the options of the store calls */
export function createLeaves(timing: () => CallOptions): Leaves {
  const waiting = new Map<StoreCaller, (readonly Change[])[]>()
  const send = (): void => {
    for (const [store, lists] of waiting) {
      // Who was charged last leaves first: nobody has charged after it, so all of its cost is given back, and then that of the one before.
      const changes = lists.reverse().flat()
      store.change(changes, timing()).catch(() => undefined)
    }
    waiting.clear()
  }
  return {
    add(store, changes) {
      if (changes.length === 0) return
      if (waiting.size === 0) void Promise.resolve().then(send)
      const lists = waiting.get(store)
      if (lists === undefined) waiting.set(store, [changes])
      else lists.push(changes)
    },
  }
}
