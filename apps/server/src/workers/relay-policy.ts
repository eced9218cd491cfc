import type { HeldPolicy } from '../held-policy.ts'
import type { WorkerGroup } from './worker-group.ts'

/** A held policy that hands what it is given to all other workers: who administers reaches one, and means all. */
export function relayPolicy(held: HeldPolicy, group: WorkerGroup): HeldPolicy {
  return {
    get current() {
      return held.current
    },
    get rejected() {
      return held.rejected
    },
    get loaded() {
      return held.loaded
    },
    async replace(candidate) {
      const policy = await held.replace(candidate)
      const { text } = candidate
      group.relay({ ...candidate, text: typeof text === 'string' ? text : Buffer.from(text).toString('utf8') })
      return policy
    },
  }
}
