import type { Region } from './roster.ts'
import type { RegionStore, Status } from './state.ts'

export function statusFor(store: RegionStore, to: Region): Status {
  const { region, run, phase, era, roster, next } = store
  return { from: region, run, to, toRun: store.bound.get(to), phase, era, roster, next }
}

/** Whether each of the two stores exchanges units with the other's present run (life of the store). */
export function isBound({ region, run, bound }: RegionStore, status: Status): boolean {
  return status.to === region && status.toRun === run && status.run === bound.get(status.from)
}
