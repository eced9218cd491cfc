import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, COUNT, type Form, OBJECT, oneOf, requireForm, shown, STORE, TEXTS, within } from '../errors/options.ts'
import type { Store } from '../stores/store.ts'
import type { Counters } from './counters/counters.ts'
import { countedStore } from './counters/regional.ts'
import { createEscrow, type Escrow } from './escrow/escrow.ts'
import { freshRun } from './fresh-run.ts'
import { UNITS } from './rights/limit.ts'
import { pull } from './escrow/pull.ts'
import { metered, type Metering } from './replicator/metering.ts'
import { bucketsOf, checkGive, refuse, regional, type RegionalKey, type RegionalStore } from './regional.ts'
import { type RegionalLimits, regionalLimits } from './regional-limits.ts'
import { createRemoteEscrow, type RemoteEscrow } from './remote/escrow.ts'
import { remoteRegional } from './remote/regional.ts'
import { pullRemote, type Side } from './remote/pull.ts'
import { isRewriting } from './rewriting-store.ts'
import { equalRoster, weightOf } from './rights/roster.ts'

/** Options of `regionalStore`. */
export interface RegionalStoreOptions {
  /** The store of this region, with the ring (`remoteStore`) around it. */
  readonly store: Store
  /** The name of this region. */
  readonly self: string
  /** The names of the other regions, all with equal weights. The first region by name also gets the remainder of 1000. */
  readonly peers?: readonly string[] | undefined
  /**
   * Instead of `peers`: what each region holds of every limit, in thousandths. Whole numbers from 0 to 1000, together at most 1000. Every
   * region must be given the same weights.
   */
  readonly weights?: Readonly<Record<string, number>> | undefined
  /**
   * `fixed` (default): each region grants its part of each limit, which never changes. `escrow`: regions send each other units of token
   * buckets (`replicate`, `exchange`); other limits keep fixed parts. `counters`, only over a `memoryStore`: each region grants whole token
   * buckets, and charges itself later for what the others spent (`replicate`).
   * With `counters`, N regions exceed a limit by at most (N - 1) * (burst + rate * D). D is how old their knowledge of each other is.
   */
  readonly mode?: 'fixed' | 'escrow' | 'counters' | undefined
  /**
   * The most keys, default 100,000. With `escrow`: keys of which units were sent or received; of all other keys, each region holds its
   * weight. With `counters`: keys of which tokens were spent; calls of further keys fail.
   */
  readonly maxCells?: number | undefined
  /**
   * With `counters`: a region that has not read some peer for this many milliseconds grants only its part of each limit. This ends when it
   * has read all peers again. So D (see `mode`) is at most this. At least 2000, and two periods of `replicate`; default: no cutoff.
   * With more than `timeoutMs` and two and a half periods of `replicate` (about 8000), one lost request does not cut the region off.
   */
  readonly cutoffMs?: number | undefined
}

export type { RegionalKey, RegionalStore, RemoteRights } from './regional.ts'

const NAME: Form = [isName, 'a name: a text that is not empty']
const FORMS: Readonly<Record<string, Form>> = {
  store: STORE,
  self: NAME,
  peers: TEXTS,
  weights: OBJECT,
  mode: oneOf('fixed', 'escrow', 'counters'),
  maxCells: COUNT,
  cutoffMs: within(2_000, 86_400_000),
}
const MAX_CELLS = 100_000

/** Maps, not properties of the store: a wrapper that copies all properties of a regional store would be taken for one. */
const METERINGS = new WeakMap<Store, Metering>()
const ESCROWS = new WeakMap<Store, Escrow>()
const REMOTES = new WeakMap<Store, RemoteEscrow>()
const COUNTERS = new WeakMap<Store, Counters>()

export const countersOf = (store: Store): Counters | undefined => COUNTERS.get(store)

/**
 * A store for one of several regions that share their limits. Each region grants its part of every limit, and calls no other region.
 * Together they never admit more than the limit, also while they cannot reach each other (demarcation: Barbara and Garcia-Molina 1994).
 * What one region leaves unused, no other can use. The option `mode` describes other modes.
 *
 * A cost above the region's part, but not above the limit, is denied without a `retryAfter`. Blocks, resets, refunds and holds apply in the
 * region only.
 * @throws LimiterError INVALID_OPTIONS. A limiter or an engine throws NOT_SUPPORTED for a limit that the regions cannot divide exactly. It
 * also does for a part below one token, except for token buckets in mode `escrow`, or in mode `counters` without `cutoffMs`
 */
export function regionalStore(options: RegionalStoreOptions): RegionalStore {
  checkOptions('regionalStore', options, FORMS)
  const { store, self } = options
  requireForm('regionalStore', 'store', store, STORE)
  requireForm('regionalStore', 'self', self, NAME)
  const weights = weightsOf(options)
  const escrow = options.mode === 'escrow'
  const counts = options.mode === 'counters'
  if (!escrow && !counts && options.maxCells !== undefined) refuse('maxCells is for modes escrow and counters')
  if (!counts && options.cutoffMs !== undefined) refuse('cutoffMs is for mode counters')
  const maxCells = options.maxCells ?? MAX_CELLS
  if (counts) {
    const { store: made, counters } = countedStore(store, self, weights, maxCells, options.cutoffMs)
    COUNTERS.set(made, counters)
    return made
  }
  const limits = regionalLimits(self, weights, escrow)
  if (!escrow) return regional(store, self, weights, limits)
  if (!isRewriting(store)) {
    const { regions } = store.capabilities
    const how = typeof regions === 'string' ? ` ${regions}` : ''
    const why = `mode escrow does not run over ${store.name}${how} in this version; use mode fixed`
    if (typeof regions !== 'object') throw new LimiterError('NOT_SUPPORTED', `regionalStore: ${why}`)
    const remote = createRemoteEscrow(regions, self, { version: 1, weights }, maxCells)
    const metering: Metering = { ledger: remote, maxCells, limits, shareNeeds: regions.shareNeeds, meter: undefined }
    const made = metered(remoteRegional(store, remote, self, weights, limits), metering)
    REMOTES.set(made, remote)
    METERINGS.set(made, metering)
    return made
  }
  return escrowed(store, createEscrow(store, self, { version: 1, weights }, freshRun(), maxCells), maxCells, weights, limits)
}

/**
 * The store without the option `maxWait`, by which a call is charged before its tokens are there. If units were sent to a peer while the
 * call waits, both the call and the peer would get the tokens.
 */
function withoutAhead(store: Store): Store {
  const { groupOptions = [], changes, ...capabilities } = store.capabilities
  return {
    ...store,
    capabilities: {
      ...capabilities,
      changes: changes.filter((kind) => kind !== 'leave'),
      groupOptions: groupOptions.filter((option) => option !== 'maxWait'),
    },
  }
}

function escrowed(
  store: Store,
  escrow: Escrow,
  maxCells: number,
  weights: ReadonlyMap<string, number>,
  limits: RegionalLimits,
): RegionalStore {
  const decided = regional(withoutAhead(store), escrow.region.region, weights, limits, (call) => {
    const bucket = limits.bucketOf(call.limit)
    return bucket === undefined ? limits.partOf(call.limit) : escrow.limitOf(call, bucket)
  })
  const metering: Metering = { ledger: escrow, maxCells, limits, meter: undefined }
  const resetting: RegionalStore = {
    ...decided,
    change(changes, options) {
      for (const change of changes) if (change.kind === 'reset') escrow.reset(change.id)
      return decided.change(changes, options)
    },
  }
  const made = metered(resetting, metering)
  const bucketOf = bucketsOf(limits)
  // Spreading would evaluate each getter only once.
  const regions: RegionalStore = Object.defineProperties(made, {
    phase: { get: () => escrow.region.phase, enumerable: true },
    era: { get: () => escrow.region.era, enumerable: true },
    cells: { get: () => escrow.cells, enumerable: true },
    unitsOf: { value: (key: RegionalKey) => escrow.held(key.id, bucketOf('unitsOf', key)).units, enumerable: true },
    give: {
      value: (key: RegionalKey, to: string, units: number) => {
        checkGive(made, to, units)
        return escrow.give(key, bucketOf('give', key), to, units)
      },
      enumerable: true,
    },
  })
  ESCROWS.set(regions, escrow)
  METERINGS.set(regions, metering)
  return regions
}

/** As `exchange`, if at least one store is on a server. */
export async function exchangeRemote(one: RegionalStore, other: RegionalStore): Promise<void> {
  const sides = [one, other].map((store): Side => REMOTES.get(store) ?? escrowOf(store))
  requirePeers(one, other)
  const [a, b] = sides as [Side, Side]
  await pullRemote(a, b)
  await pullRemote(b, a)
}

function requirePeers(one: RegionalStore, other: RegionalStore): void {
  if (one.self !== other.self && other.self in one.weights && one.self in other.weights) return
  throw new LimiterError('INVALID_OPTIONS', `exchange: expected two regions that know each other, got ${one.self} and ${other.self}`)
}

/**
 * Lets each of two regions in this process read what the other has sent it since the last read. A read that is left out or repeated does no
 * harm. Call it about once a second for each pair. After a start, a region holds nothing until it has exchanged with all others two to
 * three times.
 * @throws LimiterError NOT_SUPPORTED for a store without `mode: 'escrow'`, INVALID_OPTIONS for regions that do not know each other
 */
export function exchange(one: RegionalStore, other: RegionalStore): void {
  const [a, b] = [escrowOf(one), escrowOf(other)]
  requirePeers(one, other)
  pull(a, b)
  pull(b, a)
}

export function escrowOf(store: RegionalStore): Escrow {
  return found('exchange', ESCROWS.get(store), ', over a memoryStore; exchangeRemote is for others')
}

export function meteringOf(where: string, store: RegionalStore): Metering {
  return found(where, METERINGS.get(store))
}

function found<T>(where: string, value: T | undefined, over = ''): T {
  if (value !== undefined) return value
  throw new LimiterError('NOT_SUPPORTED', `${where}: expected a regionalStore with mode escrow${over}`)
}

function weightsOf({ self, peers, weights, mode }: RegionalStoreOptions): ReadonlyMap<string, number> {
  if ((peers === undefined) === (weights === undefined)) refuse('give either peers or weights, and not both')
  if (peers !== undefined) {
    const names = [self, ...peers]
    for (const name of names) requireForm('regionalStore', 'peers', name, NAME)
    if (new Set(names).size < names.length) refuse(`peers are ${shown(peers)}, expected the names of the other regions, each once`)
    if (names.length > UNITS) refuse(`there are ${names.length} regions, expected at most ${UNITS}`)
    return equalRoster(names.sort()).weights
  }
  const known = new Map(Object.entries(weights ?? {}))
  for (const [name, weight] of known) {
    if (!Number.isSafeInteger(weight) || weight < 0 || weight > UNITS)
      refuse(`weights.${name} is ${shown(weight)}, expected a whole number from 0 to ${UNITS}`)
  }
  const sum = [...known.values()].reduce((total, weight) => total + weight, 0)
  if (sum > UNITS) refuse(`weights are ${sum} together, expected at most ${UNITS}`)
  // With escrow, a region of weight 0 may receive units.
  const least = mode === 'escrow' && known.has(self) ? 0 : 1
  if (weightOf({ version: 1, weights: known }, self) < least)
    refuse(`weights.${self} is ${shown(known.get(self))}, expected at least 1: this region would deny every call`)
  return known
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0
}
