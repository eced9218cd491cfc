import type { Engine, KeyTarget, Override, OverrideFields } from 'sluice/policy'
import type { OrderOverrides, RelayedOverride } from '../workers/messages.ts'

export type HeldOverrides = ReturnType<typeof holdOverrides>

/**
 * A change is applied in this process at once, which validates it, and again in the common order, which decides.
 * @param order undefined if there is one process
 */
export function holdOverrides(engine: Engine, order: OrderOverrides | undefined) {
  const named = ({ rule, values }: Override): RelayedOverride => ({ rule, key: values.map((value) => value ?? null) })
  return {
    /** Rejects with LimiterError INVALID_OPTIONS that names each wrong field. */
    async set(fields: OverrideFields) {
      const change = named(engine.override(fields))
      await order?.([{ ...change, fields: { ...fields, ...change } }])
    },
    /** Resolves with the number of removed overrides. */
    async withdraw(target: KeyTarget) {
      // An override that another process has set may not have arrived.
      await order?.([])
      const withdrawn = engine.withdrawKey(target).map(named)
      return order === undefined || withdrawn.length === 0 ? withdrawn.length : order(withdrawn)
    },
  }
}

export function takeOverride(engine: Engine, { rule, key, fields }: RelayedOverride): void {
  if (fields === undefined) engine.withdraw({ rule, values: key.map((value) => value ?? undefined) })
  else engine.override(fields)
}
