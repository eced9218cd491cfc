import type { Region } from './roster.ts'
import type { RegionStore, Status } from './state.ts'

/** The status that this store reports to a peer. */
export function statusFor(store: RegionStore, to: Region): Status {
  const { region, run, phase, era, roster, next } = store
  return { from: region, run, to, toRun: store.bound.get(to), phase, era, roster, next }
}

/** Whether a peer's status counts: each of the two stores has bound the other one's present run (life of the store). */
export function isBound({ region, run, bound }: RegionStore, status: Status): boolean {
  return status.to === region && status.toRun === run && status.run === bound.get(status.from)
}
