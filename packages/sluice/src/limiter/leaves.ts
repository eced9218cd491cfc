import type { CallOptions, Change } from '../stores/store.ts'
import type { StoreCaller } from './call-store.ts'

/** Gives back charges of callers that stopped waiting. */
export interface Leaves {
  /** Changes are sent once per tick. If the store fails, the callers stay charged. */
  add(store: StoreCaller, changes: readonly Change[]): void
}

export function createLeaves(timing: () => CallOptions): Leaves {
  const waiting = new Map<StoreCaller, (readonly Change[])[]>()
  const send = (): void => {
    for (const [store, lists] of waiting) {
      // The latest charge first, because a charge gives back its cost less what was charged after it.
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
