import type { BucketPlan } from '../../src/algorithms/bucket-plan.ts'
import type { RegionalLimit } from '../../src/regions/limit.ts'
import type * as rules from '../../src/regions/programs.ts'
import type { Region } from '../../src/regions/roster.ts'
import type { Answer, Cell, Hello, Invitation, RegionStore, Row, Status } from '../../src/regions/state.ts'

/** The programs of src/regions, or a wrong variant of them. */
export type Programs = typeof rules

/** A region's store: the server that is there, what is stored in it, and what its replicator knows. */
export interface Site {
  readonly name: Region
  server: number
  store: RegionStore | undefined
  cells: Map<string, Cell>
  readonly statuses: Map<Region, Status>
  snapshot: { readonly store: RegionStore | undefined; readonly cells: Map<string, Cell> } | undefined
  offset: number
  readonly drift: number
}

/** A message on its way between two regions. */
export type Message = { readonly from: number; readonly to: number } & (
  | { readonly kind: 'row'; readonly cell: string; readonly row: Row }
  | { readonly kind: 'status'; readonly status: Status }
  | { readonly kind: 'ask' }
  | { readonly kind: 'invitation'; readonly invitation: Invitation }
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'answer'; readonly answer: Answer }
)

/** Checking all shares of a limit takes longer than a history. */
const limitsOf = new WeakMap<Programs, Map<string, RegionalLimit>>()

export function limitOf(programs: Programs, plan: BucketPlan): RegionalLimit {
  const known = limitsOf.get(programs) ?? new Map<string, RegionalLimit>()
  limitsOf.set(programs, known)
  const name = `${plan.n}/${plan.m}/${plan.burst}`
  const limit = known.get(name) ?? programs.regionalLimit(plan)
  known.set(name, limit)
  return limit
}

/** Whether a peer has received all that a site sent of a cell in this era. */
export function isReceived(site: Site, peer: Site, key: string, era: number): boolean {
  const [rows, others] = [site, peer].map(({ cells }) => cells.get(key)?.rows).map((found) => (found?.era === era ? found : undefined))
  const sent = rows?.sent.get(peer.name)
  const received = others?.received.get(site.name)
  return (sent?.units ?? 0) === (received?.units ?? 0) && (sent?.tokens ?? 0) === (received?.tokens ?? 0)
}
