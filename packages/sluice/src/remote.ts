export { withDividedLimit } from './stores/divided-limit.ts'
export { withObservers } from './stores/observed.ts'
export {
  type RemoteStore,
  type RemoteStoreOptions,
  remoteStore,
  resilient,
  withBreaker,
  withCoalescing,
  withDeniedCache,
  withLeases,
} from './stores/remote/remote-store.ts'
