import { type Engine, hashKeys, type Pseudonym } from 'sluice/policy'
import type { Log } from '../../logs/log.ts'
import { applyOverrides, holdOverrides } from '../../policy/held-overrides.ts'
import { type HeldPolicy, inOneLine } from '../../policy/held-policy.ts'
import type { PolicyPlace } from '../../policy/policy-place.ts'
import { replacingByPut } from '../../policy/reloading.ts'
import type { Beginning, RelayedPolicy } from '../../workers/messages.ts'
import { relayPolicies } from '../../workers/shared-state.ts'
import type { Change, Group } from '../../workers/worker-group.ts'

/**
 * What the others have from the policy's file or URL, else what this process reads there. A new worker must not end because the file is bad
 * or the bundle has expired by now, and must not take one that the others refuse, such as one with another store.
 * @throws CommandFailure as `PolicyPlace.read` does
 */
export async function firstPolicy(place: PolicyPlace, { fromPlace }: Beginning) {
  if (fromPlace !== undefined) return { ...place.resume(fromPlace), requestedAt: fromPlace.requestedAt, own: undefined }
  const requestedAt = Date.now()
  const placed = await place.read()
  const own: RelayedPolicy = { ...placed.candidate, fromPlace: true, requestedAt, acceptedAt: requestedAt }
  return { ...placed, requestedAt, own }
}

/**
 * Applies the changes of other processes, and exchanges later ones.
 * @param requestedAt milliseconds since 1970 when a process began to read the policy of the file or URL
 */
export async function share(group: Group, beginning: Beginning, engine: Engine, policy: HeldPolicy, requestedAt: number | undefined) {
  const { policy: latest, overrides: earlier } = beginning
  const { own, single } = group.logs
  const keeps = (error: unknown): void => logKept(own, error)
  if (latest !== undefined) await policy.replace(latest).catch(keeps)
  const relayedOverrides = applyOverrides(engine, (error) => logWithout(own, error))
  relayedOverrides.add(earlier, true)
  const send = (accepted: RelayedPolicy): void => group.send({ kind: 'policy', policy: accepted })
  // `latest` has replaced the policy that was requested at `requestedAt`.
  const first = latest === undefined ? requestedAt : undefined
  const { put, file, fetched, relayed, ordered, isIdle } = relayPolicies(policy, send, keeps, first, relayedOverrides.policyLoaded)
  const overrides = holdOverrides(engine, group.order)
  const apply = (change: Exclude<Change, { kind: 'pause' }>): void => {
    if (change.kind === 'policy') relayed(change.policy)
    else if (change.kind === 'overrides') relayedOverrides.add(change.changes, isIdle())
    else ordered()
  }
  const replaceBy = { file, fetched, loaded: () => policy.loaded }
  return { replace: replacingByPut(put, single), replaceBy, overrides, apply, applied: relayedOverrides.applied }
}

function logWithout(log: Log, error: unknown): void {
  log('error', 'override-not-shared', `goes without an override that another worker has: ${inOneLine(error)}`)
}

function logKept(log: Log, error: unknown): void {
  log('error', 'policy-not-shared', `keeps its policy, and others have a later one: ${inOneLine(error)}`)
}

/** All processes use the same pseudonyms, so the counts of one key can be added. */
export function namesFrom(names: readonly number[]): Pseudonym {
  const numbers = [...names]
  return hashKeys(() => numbers.shift() ?? 0)
}
