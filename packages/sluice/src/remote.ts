export { type DividedStore, withDividedLimit } from './stores/divided-limit.ts'
export type { Random } from './time/time.ts'
export {
  type BatchingOptions,
  type BreakerChange,
  type BreakerOptions,
  type BreakerState,
  type DenialOptions,
  type LeaseOptions,
  type RemoteStore,
  type RemoteStoreOptions,
  remoteStore,
  resilient,
  withBreaker,
  withCoalescing,
  withDeniedCache,
  withLeases,
} from './stores/remote/remote-store.ts'
