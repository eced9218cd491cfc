import { DECISION, requireForm } from '../errors/options.ts'
import { createHolders, type NewHolder, takesSlots } from '../limiter/holders.ts'
import type { Deciders } from '../limiter/on-failure.ts'
import type { WaitOptions } from '../limiter/timing.ts'
import type { CallOptions, Change } from '../stores/store.ts'
import type { Random } from '../time/time.ts'
import type { Made } from './decide-requests.ts'
import type { EngineDecision } from './engine-decision.ts'

/** Gives back the slots of concurrency limits. */
export interface HoldVerbs {
  /**
   * Gives back the slots of a request, if any. Rejects with the StoreFailure if the store fails: the slots are then free when the hold
   * ends.
   * @param decision the same object that this engine returned
   */
  release(decision: EngineDecision, options?: WaitOptions): Promise<void>
}

export interface Holds extends HoldVerbs {
  readonly newHolder: NewHolder
  /** As long as the decision object is in use. */
  keep(made: readonly Made[]): void
}

/**
 * @param secret unpredictable numbers in [0, 1)
 * @param timing throws if the engine is closed
 */
export function createHolds({ main, local }: Deciders, secret: Random, timing: (options?: WaitOptions) => CallOptions): Holds {
  const held = new WeakMap<object, readonly Change[]>()
  return {
    newHolder: createHolders(secret),
    keep(made) {
      for (const { decision, holder, from } of made) {
        if (holder === undefined || decision.hold === undefined) continue
        const calls = [...from.enforced, ...from.shadows].map(({ call }) => call).filter(({ limit }) => takesSlots(limit))
        held.set(
          decision,
          calls.map((call) => ({ kind: 'release', call, holder })),
        )
      }
    },
    async release(decision, options) {
      const timed = timing(options)
      requireForm('engine', 'decision', decision, DECISION)
      const changes = held.get(decision)
      if (changes === undefined) return
      held.delete(decision)
      // The fallback may have granted slots while the store failed.
      await local?.change(changes, {}).catch(() => undefined)
      await main.change(changes, timed)
    },
  }
}
