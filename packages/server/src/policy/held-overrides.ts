import type { Engine, KeyTarget, Override, OverrideFields } from 'sluice/policy'
import type { RelayedOverride } from '../workers/messages.ts'

export type HeldOverrides = ReturnType<typeof holdOverrides>

/** @param relay called for every change, to send it to the other processes */
export function holdOverrides(engine: Engine, relay: (change: RelayedOverride) => void) {
  const named = ({ rule, values }: Override): RelayedOverride => ({ rule, key: values.map((value) => value ?? null) })
  return {
    /** @throws LimiterError INVALID_OPTIONS that names each wrong field */
    set(fields: OverrideFields) {
      const change = named(engine.override(fields))
      relay({ ...change, fields: { ...fields, ...change } })
    },
    /** Returns the number of removed overrides. */
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
