export {
  exchange,
  exchangeRemote,
  type RegionalKey,
  type RegionalStore,
  regionalStore,
  type RegionalStoreOptions,
  type RemoteRights,
} from './regions/regional-store.ts'
export type { Random } from './time/time.ts'
export { replicate } from './regions/replicate.ts'
export type { PeerStatus, ReplicateOptions, Replicator, ReplicatorStatus } from './regions/replicator.ts'
export { reweigh, type ReweighOptions } from './regions/reweigh.ts'
export type { RegionPage, RegionRequest } from './regions/replicator/messages.ts'
export type { Transfers } from './regions/rights/state.ts'
