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

/** Among how many processes the local fallback divides each limit; absent if undivided. */
interface Nodes {
  readonly nodes?: number
}

export interface Undecided extends Nodes {
  readonly outcome: 'undecided'
  readonly allowed: boolean
  readonly calls?: undefined
  /** `store`: the option `onFull` of a full store set `allowed`. `fallback`: the failure policy did. */
  readonly source: Source
  readonly degraded: StoreFailure
}

export type Resolved = Answered | Undecided

/** `holds`: too many reservations of the key are open. Only the limiter finds this reason, no store. */
export interface Answered extends Omit<Decided, 'reason'>, Nodes {
  readonly reason?: Decided['reason'] | 'holds'
}

/** `local` decides if `main` fails and the failure policy is `local`. */
export interface Deciders {
  readonly main: StoreCaller
  readonly local: StoreCaller | undefined
}

/** @param policyAt the failure policy of a group, by its index */
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

export function decideGroup({ main, local }: Deciders, group: CallGroup, policy: FailurePolicy, options: DecideOptions): Promise<Resolved> {
  return main.decide([group], options).then(([verdict]) => resolve(verdict as GroupVerdict, policy, local, group, options))
}

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
 * The option `onFull` of a full store applies instead of the failure policy. With the policy `allow` or `deny`, the outcome is `undecided`.
 * With `local`, the fallback decides. If the fallback is absent or fails, or the caller has aborted, the outcome is `undecided`. The group
 * then passes only if a full fallback has `onFull: 'allow'`.
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
  const isAborted = failure.kind === 'aborted' || options.signal?.aborted === true
  if (policy !== 'local' || local === undefined || isAborted) return undecided(policy === 'allow', failure)
  const verdict = options.charge === false ? undefined : local.decideNow?.(group)
  if (verdict !== undefined) return locally(verdict, failure, local.store)
  return local.decide([group], options).then(([one]) => locally(one as GroupVerdict, failure, local.store))
}

function isDecided(verdict: GroupVerdict): verdict is Decided {
  return verdict.failure === undefined
}

function locally(verdict: GroupVerdict, failure: StoreFailure, local: Store & { readonly nodes?: unknown }): Resolved {
  const { nodes } = local
  const shared = Number.isSafeInteger(nodes) && (nodes as number) > 0 ? { nodes: nodes as number } : {}
  if (isDecided(verdict)) return { ...verdict, source: 'fallback', degraded: failure, ...shared }
  return { ...undecided(verdict.onFull === 'allow', verdict.failure), ...shared }
}

function undecided(allowed: boolean, degraded: StoreFailure, source: Source = 'fallback'): Undecided {
  return { outcome: 'undecided', allowed, source, degraded }
}
