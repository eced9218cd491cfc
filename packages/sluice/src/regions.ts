export {
  exchange,
  exchangeRemote,
  type RegionalKey,
  type RegionalStore,
  regionalStore,
  type RegionalStoreOptions,
  type RemoteRights,
} from './regions/regional-store.ts'
export { type PeerStatus, replicate, type ReplicateOptions, type Replicator, type ReplicatorStatus } from './regions/replicate.ts'
export { reweigh } from './regions/reweigh.ts'
export type { RegionPage, RegionRequest } from './regions/messages.ts'
export type { Transfers } from './regions/escrow.ts'
