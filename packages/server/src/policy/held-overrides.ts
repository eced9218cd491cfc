import type { Engine, KeyTarget, Override, OverrideFields } from 'sluice/policy'
import type { RelayedOverride } from '../workers/messages.ts'

export type HeldOverrides = ReturnType<typeof holdOverrides>

/**
 * Overrides that are set while the service runs, in each of its processes.
 * @param relay called for every change; it names the override by its rule and the values of its key, which are the same in all processes
 */
export function holdOverrides(engine: Engine, relay: (change: RelayedOverride) => void) {
  const named = ({ rule, values }: Override): RelayedOverride => ({ rule, key: values.map((value) => value ?? null) })
  return {
    /** @throws LimiterError INVALID_OPTIONS that names each wrong field */
    set(fields: OverrideFields) {
      const change = named(engine.override(fields))
      relay({ ...change, fields: { ...fields, ...change } })
    },
    /** Removes the overrides of a key; returns how many there were. */
    withdraw(target: KeyTarget) {
      const withdrawn = engine.withdrawKey(target)
      for (const override of withdrawn) relay(named(override))
      return withdrawn.length
    },
  }
}

export function takeOverride(engine: Engine, { rule, key, fields }: RelayedOverride): void {
  if (fields === undefined) engine.withdraw({ rule, values: key.map((value) => value ?? undefined) })
  else engine.override(fields)
}
