import type { GroupVerdict, Store } from 'sluice'
import type { TraceEntry } from 'sluice/testing'

/**
 * When a denial was decided. The store decides on its server's clock. A denial from the cache reports an estimate of that clock, so the
 * clock of this machine is read instead. In the bench the server has the same clock.
 */
function deniedAt({ at, source }: { readonly at: number; readonly source?: string }): number {
  return source === 'denied-cache' ? Math.round((performance.timeOrigin + performance.now()) * 1_000) : at
}

/**
 * Wraps a store so that its admissions are added to a list. It reads the store's verdicts, because they have the time in microseconds;
 * decisions have the time only in milliseconds.
 * @param all whether denials are added, too
 */
export function listening(store: Store, admitted: TraceEntry[], all: boolean = false): Store {
  const note = (verdict: GroupVerdict | undefined): void => {
    if (verdict?.outcome === 'allowed') admitted.push({ at: verdict.at, cost: 1, allowed: true })
    else if (all && verdict?.outcome === 'denied') admitted.push({ at: deniedAt(verdict), cost: 1, allowed: false })
  }
  return {
    ...store,
    decideNow: (group, now) => {
      const verdict = store.decideNow?.(group, now)
      note(verdict)
      return verdict
    },
    decide: async (groups, options) => {
      const verdicts = await store.decide(groups, options)
      if (options?.charge !== false) verdicts.forEach(note)
      return verdicts
    },
  }
}
