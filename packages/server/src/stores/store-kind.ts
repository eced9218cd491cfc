import type { Store } from 'sluice'
import type { StoreKind } from 'sluice/policy'

/** The kind that bounds are computed for. A store on this process's clock is in this process, so it has no local fallback. */
export function storeKindOf({ capabilities }: Store): StoreKind {
  return capabilities.clock === 'caller' ? 'process' : 'shared'
}
