import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'

/** What a region holds and needs of a cell. */
export interface Demand {
  readonly region: Region
  readonly units: number
  /**
   * What callers attempted per second, calls that were denied included, in units of the key: cost per second * UNITS / rate. May be above
   * UNITS.
   */
  readonly need: number
}

export interface Gift {
  readonly to: Region
  /** How many units to send; a whole number above 0. */
  readonly units: number
}

/** If there are enough units for all, a region keeps this many times what it needs, and its peers get as many times what they need. */
const MARGIN = 1.1
/**
 * Suppose that a peer has enough units for its need, but fewer than it wants with `MARGIN`. It is sent nothing if it lacks less than this
 * fraction of what it wants, because sending costs a message.
 */
const DEAD_BAND = 0.1
/**
 * Suppose that a peer has too few units for its need. It is sent nothing if it lacks less than this number and less than `DEAD_BAND` of
 * what it wants.
 */
const MIN_GIFT: number = UNITS / 100
/** A region without calls keeps this many units for its first call. */
const RESERVE: number = UNITS / 100

/**
 * What a region sends to its peers of a key. Each region decides this alone, by figures of its peers that may be old. Whatever it decides,
 * the limit is not exceeded. It keeps what it needs, or its fair share if all regions together need more than there is. It sends everything
 * else to peers that have less than they need.
 * @param reserve units that the region keeps in any case
 * @param total the units that the region and these peers hold together. It is less than UNITS if other regions cannot be reached and hold
 * the rest
 */
export function giftsOf(own: Demand, peers: readonly Demand[], reserve: number = RESERVE, total: number = UNITS): readonly Gift[] {
  const all = [own, ...peers]
  // All regions get the same margin above what they need. The margin is smaller if there are too few units for it. Otherwise a busy region
  // might have no margin while others have more than they use.
  const margin = Math.min(MARGIN, Math.max(1, total / all.reduce((sum, { need }) => sum + need, 0)))
  const fair = fairShare(
    all.map(({ need }) => need * margin),
    total,
  )
  const keep = Math.max(reserve, Math.min(own.need * margin, fair))
  const left = Math.max(0, Math.floor(own.units - keep))
  const lacking = peers
    .map(({ region, units, need }) => ({
      to: region,
      denies: units < need,
      wanted: Math.min(need * margin, UNITS),
      lacks: Math.round(Math.min(need * margin, UNITS) - units),
    }))
    .filter(({ denies, wanted, lacks }) => lacks > 0 && lacks >= (denies ? Math.min(MIN_GIFT, wanted * DEAD_BAND) : wanted * DEAD_BAND))
  const lack = lacking.reduce((sum, { lacks }) => sum + lacks, 0)
  return lacking
    .map(({ to, lacks }) => ({ to, units: lack <= left ? lacks : Math.floor((left * lacks) / lack) }))
    .filter(({ units }) => units > 0)
}

/**
 * The most units that a region may have if there are not enough for all: regions that want less get all they want, and the others get this
 * number (max-min fairness). Infinity if there are enough for all.
 */
function fairShare(wants: readonly number[], total: number): number {
  let left = total
  for (const [index, want] of [...wants].sort((a, b) => a - b).entries()) {
    const share = left / (wants.length - index)
    if (want > share) return share
    left -= want
  }
  return Infinity
}

/**
 * What a region holds and needs of a key that only one region can use at a time. The reason is that a share would be too small for a call.
 */
export interface WholeDemand extends Demand {
  /** The units without which the region cannot grant its largest call. */
  readonly cost: number
  /**
   * Microseconds on the clock of the region that computes this. For a peer: since when it has held less than `cost`. For the region itself:
   * since when it has had its units.
   */
  readonly since: Micros
}

/**
 * Whether regions must take turns with a key, because there are too few units for the largest calls of all of them at once. Regions without
 * calls count with the units that they keep in reserve.
 */
export function takesTurns(all: readonly Pick<WholeDemand, 'need' | 'cost'>[]): boolean {
  const costs = all.reduce((sum, { need, cost }) => sum + (need > 0 ? cost : 0), 0)
  const reserved = RESERVE * all.filter(({ need }) => need === 0).length
  return costs > Math.max(UNITS - reserved, UNITS / 2)
}

/**
 * What a region sends of a key with which the regions take turns: all units that it holds, or none. If another region holds more, the
 * region sends its units there, so that one region gets all of them. The region that holds the most keeps the units for at least
 * `MIN_STAY`, and then sends them to the peer that has waited longest. Whatever is sent, the limit is not exceeded.
 * @param refill microseconds in which the region's largest cost is refilled
 */
export function wholeGiftOf(own: WholeDemand, peers: readonly WholeDemand[], refill: Micros, now: Micros): Gift | undefined {
  if (own.units === 0) return undefined
  const waiting = peers.filter(({ need, units, cost }) => need > 0 && units < cost)
  const busy = own.need > 0
  const most = [own, ...peers].reduce((best, one) => (hasMore(one, best) ? one : best))
  const held = { since: own.since, busy, refill }
  const collector = most.need > 0 || busy ? most.region : recipientOf(held, waiting, now)
  const to = most === own ? recipientOf(held, waiting, now) : collector
  return to === undefined ? undefined : { to, units: own.units }
}

/**
 * Whether one region has more units than another. If both have the same number, the first by name counts as having more. So all regions
 * that know the same figures find the same result.
 */
function hasMore(one: Demand, other: Demand): boolean {
  return one.units > other.units || (one.units === other.units && one.region < other.region)
}

/**
 * The least time for which a region keeps all units of a key that it uses, in microseconds. It keeps them longer if its largest cost takes
 * longer to refill.
 */
const MIN_STAY = 5_000_000

/** A key of which a region holds all units, as that region knows the key. Times are on the region's own clock, in microseconds. */
export interface HeldCell {
  readonly since: Micros
  /** Whether the region itself has calls of the cell. */
  readonly busy: boolean
  /** The time in which the region's largest cost is refilled. */
  readonly refill: Micros
}

/**
 * The peer to which a region sends all units of a key: the one that has waited longest. Undefined if no peer waits, or if the region has
 * calls itself and has not held the units for long enough.
 * @param waiting peers that cannot grant their largest call, and since when
 */
export function recipientOf(
  { since, busy, refill }: HeldCell,
  waiting: readonly { readonly region: Region; readonly since: Micros }[],
  now: Micros,
): Region | undefined {
  if (busy && now - since < Math.max(MIN_STAY, refill)) return undefined
  return [...waiting].sort((a, b) => a.since - b.since)[0]?.region
}
