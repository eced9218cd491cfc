import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'

/** What a region holds and needs of a cell. */
export interface Demand {
  readonly region: Region
  readonly units: number
  /**
   * The cost per second that callers attempted, denials included, in units of the cell: cost per second * UNITS / rate. It may be above
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
 * A peer whose units cover its need gets nothing if it lacks less than this fraction of what it wants, because each gift causes a message.
 */
const DEAD_BAND = 0.1
/** A peer whose units do not cover its need gets nothing if it lacks less than this number and less than `DEAD_BAND` of what it wants. */
const MIN_GIFT: number = UNITS / 100
/** A region without calls keeps this many units for its first call. */
const RESERVE: number = UNITS / 100

/**
 * What a region sends to its peers (R7). Each region decides this alone, by figures of its peers that may be old. Whatever it decides, the
 * limit is not exceeded. It keeps what it needs, or its fair share if all regions together need more than there is. It sends everything
 * else to those who lack it.
 * @param reserve units that it keeps in any case
 * @param total the units that it and these peers hold together, if other regions cannot be reached and hold the rest
 */
export function giftsOf(own: Demand, peers: readonly Demand[], reserve: number = RESERVE, total: number = UNITS): readonly Gift[] {
  const all = [own, ...peers]
  // All regions have the same margin. It shrinks if there are few units left: with a fixed margin, a busy region might have none while
  // others have more than they use.
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
 * The most units that each region may have if those who want less get all they want (max-min fairness); Infinity if there is enough for
 * all.
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

/** What a region holds and needs of a cell that only one region can use at a time (R8). */
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
 * Whether regions take turns at a cell, because they cannot all hold the units for their largest calls at once. Regions without calls keep
 * their reserve.
 */
export function takesTurns(all: readonly Pick<WholeDemand, 'need' | 'cost'>[]): boolean {
  const costs = all.reduce((sum, { need, cost }) => sum + (need > 0 ? cost : 0), 0)
  const reserved = RESERVE * all.filter(({ need }) => need === 0).length
  return costs > Math.max(UNITS - reserved, UNITS / 2)
}

/**
 * What a region sends of a cell at which the regions take turns (R8): all units that it holds, or none. If another region holds more, the
 * region sends its units there, so that the cell comes together. The region that holds the most keeps the cell for its time (`MIN_STAY`),
 * and then sends it to the peer that has waited longest. Whatever is sent, the limit is not exceeded.
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
 * Whether one region has more units than another; if they have the same, the first by name counts as having more. So all regions with the
 * same figures choose the same one.
 */
function hasMore(one: Demand, other: Demand): boolean {
  return one.units > other.units || (one.units === other.units && one.region < other.region)
}

/**
 * The least time for which a region keeps an undivided cell that it uses, in microseconds. It keeps the cell longer if its largest cost
 * takes longer to refill.
 */
const MIN_STAY = 5_000_000

/** An undivided cell that a region holds, as the region knows it. Times are on its own clock, in microseconds. */
export interface HeldCell {
  readonly since: Micros
  /** Whether the region itself has calls of the cell. */
  readonly busy: boolean
  /** The time in which the region's largest cost is refilled. */
  readonly refill: Micros
}

/**
 * The peer to which a region sends an undivided cell (R8): the one that has waited longest. Undefined if no peer waits, or if the region
 * has calls itself and has not held the cell for its time yet.
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
