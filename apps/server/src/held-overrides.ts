import type { Engine, KeyTarget, Override, OverrideFields } from 'sluice/policy'
import type { RelayedOverride } from './workers/messages.ts'

/** Overrides that are set while the service runs, in every one of its processes. */
export interface HeldOverrides {
  /** @throws LimiterError INVALID_OPTIONS naming each field that is wrong */
  set(fields: OverrideFields): void
  /** How many there were. */
  withdraw(target: KeyTarget): number
}

/** @param relay hears of every change, in the spelling that names one override in all processes */
export function holdOverrides(engine: Engine, relay: (change: RelayedOverride) => void): HeldOverrides {
  const named = ({ rule, values }: Override): RelayedOverride => ({ rule, key: values.map((value) => value ?? null) })
  return {
    set(fields) {
      const change = named(engine.override(fields))
      relay({ ...change, fields: { ...fields, ...change } })
    },
    withdraw(target) {
      const withdrawn = engine.withdrawKey(target)
      for (const override of withdrawn) relay(named(override))
      return withdrawn.length
    },
  }
}

/** A change that another process took in. */
export function takeOverride(engine: Engine, { rule, key, fields }: RelayedOverride): void {
  if (fields === undefined) engine.withdraw({ rule, values: key.map((value) => value ?? undefined) })
  else engine.override(fields)
}
