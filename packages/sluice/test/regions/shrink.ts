import { type Action, type History } from './history.ts'

/** Shortens a failing history: leaves out actions as long as the history still fails. */
export function shrink(history: History, fails: (shorter: History) => boolean): History {
  let actions: readonly Action[] = history.actions
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < actions.length;) {
      const shorter = [...actions.slice(0, at), ...actions.slice(at + size)]
      if (fails({ ...history, actions: shorter })) actions = shorter
      else at += size
    }
  }
  return { ...history, actions }
}
