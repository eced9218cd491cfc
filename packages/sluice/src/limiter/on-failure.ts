import type { Source } from '../decision/decision.ts'
import {
  type CallGroup,
  type Decided,
  type DecideOptions,
  type Failed,
  type FailurePolicy,
  type GroupVerdict,
  type Store,
  type StoreFailure,
} from '../stores/store.ts'
import type { StoreCaller } from './call-store.ts'

/** Among how many processes the local fallback divides each limit; absent if it grants the whole limit, or did not decide. */
interface Nodes {
  readonly nodes?: number
}

/** A group that no store decided, and whether it may pass all the same. */
export interface Undecided extends Nodes {
  readonly outcome: 'undecided'
  readonly allowed: boolean
  readonly calls?: undefined
  /** Who says whether the group may pass: `store` for the option `onFull` of a full store, `fallback` for the failure policy. */
  readonly source: Source
  readonly degraded: StoreFailure
}

/** What is reported about a group: the verdict of the store or of the local fallback, or what the failure policy says without one. */
export type Resolved = Answered | Undecided

/** The verdict of a store. `holds`: the group was denied because too many holds of its key are open, which only the limiter knows. */
export interface Answered extends Omit<Decided, 'reason'>, Nodes {
  readonly reason?: Decided['reason'] | 'holds'
}

/** The store that decides, and the one in this process that decides when it fails and the policy is `local`. */
export interface Deciders {
  readonly main: StoreCaller
  readonly local: StoreCaller | undefined
}

/**
 * Decides each group and applies its failure policy.
 * @param policyAt the policy of a group, by its index
 */
export function decideGroups(
  { main, local }: Deciders,
  groups: readonly CallGroup[],
  policyAt: (index: number) => FailurePolicy,
  options: DecideOptions,
): Promise<readonly Resolved[]> {
  const resolved = async (verdict: GroupVerdict, index: number): Promise<Resolved> =>
    resolve(verdict, policyAt(index), local, groups[index] as CallGroup, options)
  return main
    .decide(groups, options)
    .then<readonly Resolved[]>((verdicts) => (verdicts.every(isDecided) ? verdicts : Promise.all(verdicts.map(resolved))))
}

/** Decides one group and applies its failure policy. */
export function decideGroup({ main, local }: Deciders, group: CallGroup, policy: FailurePolicy, options: DecideOptions): Promise<Resolved> {
  return main.decide([group], options).then(([verdict]) => resolve(verdict as GroupVerdict, policy, local, group, options))
}

/** The verdict itself if the store decided, else what the failure policy says. */
export function resolve(
  verdict: GroupVerdict,
  policy: FailurePolicy,
  local: StoreCaller | undefined,
  group: CallGroup,
  options: DecideOptions,
): Resolved | Promise<Resolved> {
  return isDecided(verdict) ? verdict : onFailure(verdict, policy, local, group, options)
}

/**
 * Applies the failure policy to a group that the store did not decide. A failure never looks like a used-up quota.
 * - If the store is full and has the option `onFull`, this option says what is allowed, and the policy is not applied.
 * - `allow`, `deny`: the outcome is `undecided`, and the group may pass (`allow`) or is refused (`deny`).
 * - `local`: the local fallback decides. If it is absent or fails too, or if the caller has aborted, the outcome is `undecided` and the
 *   group is refused. A full fallback with `onFull: 'allow'` lets the group pass.
 * @returns a promise only if the local fallback decides asynchronously, as it does for every peek
 */
export function onFailure(
  { failure, onFull }: Failed,
  policy: FailurePolicy,
  local: StoreCaller | undefined,
  group: CallGroup,
  options: DecideOptions,
): Resolved | Promise<Resolved> {
  if (onFull !== undefined) return undecided(onFull === 'allow', failure, 'store')
  if (policy !== 'local' || local === undefined || failure.kind === 'aborted') return undecided(policy === 'allow', failure)
  const verdict = options.charge === false ? undefined : local.decideNow?.(group)
  if (verdict !== undefined) return locally(verdict, failure, local.store)
  return local.decide([group], options).then(([one]) => locally(one as GroupVerdict, failure, local.store))
}

function isDecided(verdict: GroupVerdict): verdict is Decided {
  return verdict.failure === undefined
}

/** A decision of the local fallback, marked with the failure that made it necessary. */
function locally(verdict: GroupVerdict, failure: StoreFailure, local: Store & { readonly nodes?: unknown }): Resolved {
  const { nodes } = local
  const shared = Number.isSafeInteger(nodes) && (nodes as number) > 0 ? { nodes: nodes as number } : {}
  if (isDecided(verdict)) return { ...verdict, source: 'fallback', degraded: failure, ...shared }
  return { ...undecided(verdict.onFull === 'allow', verdict.failure), ...shared }
}

function undecided(allowed: boolean, degraded: StoreFailure, source: Source = 'fallback'): Undecided {
  return { outcome: 'undecided', allowed, source, degraded }
}
