import type { CallOptions, Change } from '../stores/store.ts'
import type { StoreCaller } from './call-store.ts'

/** Gives back what callers were charged ahead that stopped waiting. */
export interface Leaves {
  /** Adds the changes of one caller. The changes of one tick are sent in one store call. If the store fails, the callers stay charged. */
  add(store: StoreCaller, changes: readonly Change[]): void
}

/** @param timing the options of the store calls */
export function createLeaves(timing: () => CallOptions): Leaves {
  const waiting = new Map<StoreCaller, (readonly Change[])[]>()
  const send = (): void => {
    for (const [store, lists] of waiting) {
      // The caller that was charged last leaves first. No later charge depends on this one, so its whole cost is given back. Then the same
      // is true of the caller before it.
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
