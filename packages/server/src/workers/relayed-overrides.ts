import type { RelayedOverride } from './messages.ts'

/** There cannot be more at once, because the engine of the worker that set one would have refused it. */
const MAX_OVERRIDES = 10_000

/** The overrides that workers have set and not removed, for workers that begin later. */
export interface RelayedOverrides {
  change(change: RelayedOverride): void
  list(): readonly RelayedOverride[]
}

export function relayedOverrides(now: () => number): RelayedOverrides {
  const held = new Map<string, RelayedOverride>()
  const forgetEnded = (): void => {
    const at = now()
    for (const [name, { fields }] of held) if (fields?.until !== undefined && Date.parse(fields.until) <= at) held.delete(name)
  }
  return {
    change(change) {
      const name = JSON.stringify([change.rule, change.key])
      held.delete(name)
      if (change.fields === undefined) return
      if (held.size >= MAX_OVERRIDES) forgetEnded()
      held.set(name, change)
    },
    list() {
      forgetEnded()
      return [...held.values()]
    },
  }
}
