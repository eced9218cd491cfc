import { LimiterError } from 'sluice'
import type { Engine, KeyTarget, Override, OverrideFields } from 'sluice/policy'
import { BadRequest } from '../http/answer.ts'
import { hasEnded, type OrderOverrides, overrideName, type RelayedOverride } from '../workers/messages.ts'
import { MAX_OVERRIDES } from '../workers/shared-state.ts'

export type HeldOverrides = ReturnType<typeof holdOverrides>

/**
 * A change is applied in this process at once, which validates it, and again in the common order, which decides.
 * @param order undefined if there is one process
 */
export function holdOverrides(engine: Engine, order: OrderOverrides | undefined) {
  const named = ({ rule, values }: Override): RelayedOverride => ({ rule, key: values.map((value) => value ?? null) })
  return {
    /** Rejects with LimiterError INVALID_OPTIONS that names each wrong field, or BadRequest if all processes have too many overrides. */
    async set(fields: OverrideFields) {
      const change = named(engine.override(fields))
      const removed = await order?.([{ ...change, fields: { ...fields, ...change } }])
      if (removed !== 'full') return
      throw new BadRequest(`override: there are ${MAX_OVERRIDES} already: remove some, or write them into the policy`)
    },
    /** Resolves with the number of removed overrides. */
    async withdraw(target: KeyTarget) {
      // An override that another process has set may not have arrived.
      await order?.([])
      const withdrawn = engine.withdrawKey(target).map(named)
      // All processes remove the target, also overrides that this process lacks.
      return order === undefined ? withdrawn.length : Number(await order(withdrawn, target))
    },
  }
}

/**
 * Applies the changes of all processes in their order. They wait while a policy loads, because it may have the rule of a later override. An
 * override that this process cannot apply is kept, because a later policy may have its rule. At the most overrides, one of this process
 * that the primary has not yet put in order may take the last place. If the primary refuses that one, the kept one is applied.
 * @param goesWithout called with the reason why this process cannot apply an override now
 */
export function applyOverrides(engine: Engine, goesWithout: (error: unknown) => void, now: () => number = Date.now) {
  const waiting: RelayedOverride[] = []
  const kept = new Map<string, { readonly change: RelayedOverride; readonly hasRule: boolean }>()
  const whenApplied: (() => void)[] = []
  const apply = (change: RelayedOverride, failed: (error: unknown) => void): void => {
    const { rule, key, fields } = change
    // Other processes have replaced the earlier override, also if this one cannot apply the new one.
    kept.delete(overrideName(change))
    engine.withdraw({ rule, values: key.map((value) => value ?? undefined) })
    if (fields === undefined || hasEnded(change, now())) return
    try {
      engine.override(fields)
    } catch (error) {
      kept.set(overrideName(change), { change, hasRule: !(error instanceof LimiterError && error.code === 'UNKNOWN_RULE') })
      failed(error)
    }
  }
  const applyKept = (only: 'all' | 'with a rule'): void => {
    const changes = [...kept.values()]
    for (const { change, hasRule } of changes) if (hasRule || only === 'all') apply(change, () => {})
  }
  const applyWaiting = (): void => {
    const changes = waiting.splice(0)
    for (const change of changes) apply(change, goesWithout)
    if (changes.some(({ fields }) => fields === undefined)) applyKept('with a rule')
    for (const resolve of whenApplied.splice(0)) resolve()
  }
  return {
    /** @param isIdle false if a policy is loading */
    add(changes: readonly RelayedOverride[], isIdle: boolean) {
      waiting.push(...changes)
      if (isIdle) applyWaiting()
    },
    /** The policies before the waiting changes are loaded. */
    policyLoaded() {
      applyKept('all')
      applyWaiting()
    },
    /** Resolves when all changes until now are applied. */
    applied: () => (waiting.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => whenApplied.push(resolve))),
  }
}
