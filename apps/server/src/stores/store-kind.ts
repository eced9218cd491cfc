import type { Store } from 'sluice'
import type { StoreKind } from 'sluice/policy'

/** What bounds are computed for: a store on this process's clock is in this process, and nothing stands in for it. */
export function storeKindOf({ capabilities }: Store): StoreKind {
  return capabilities.clock === 'caller' ? 'process' : 'shared'
}
