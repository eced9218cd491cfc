import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'

/** What a region holds and needs of a cell. */
export interface Demand {
  readonly region: Region
  readonly units: number
  /** The cost that was attempted, denials included, in units: cost per second * UNITS / rate. It may be above UNITS. */
  readonly need: number
}

export interface Gift {
  readonly to: Region
  /** A whole number above 0. */
  readonly units: number
}

/** A region keeps a little more than it needs, if there is enough for all, and wants as much. */
const MARGIN = 1.1
/** A peer that has what it needs, and lacks less than this part of what it wants, gets nothing: rows that change often are not worth it. */
const DEAD_BAND = 0.1
/** Fewer units than this are sent to nobody. */
const MIN_GIFT: number = UNITS / 100
/** A region without calls keeps this many units for the first of them. */
const RESERVE: number = UNITS / 100

/**
 * What a region sends to its peers (R7). It decides alone, and safety does not depend on it: peers' figures may be old. It keeps what it
 * needs, but no more than its fair share if all together need more than there is, and sends everything else to those who lack it.
 * @param reserve units that it keeps in any case
 */
export function giftsOf(own: Demand, peers: readonly Demand[], reserve: number = RESERVE): readonly Gift[] {
  const all = [own, ...peers]
  // Everybody has the same margin. With a fixed one, a busy region might have none, and others more than they use.
  const margin = Math.min(MARGIN, Math.max(1, UNITS / all.reduce((sum, { need }) => sum + need, 0)))
  const fair = fairShare(all.map(({ need }) => need * margin))
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
  const total = lacking.reduce((sum, { lacks }) => sum + lacks, 0)
  return lacking
    .map(({ to, lacks }) => ({ to, units: total <= left ? lacks : Math.floor((left * lacks) / total) }))
    .filter(({ units }) => units > 0)
}

/** The most that each may have if those who want less get all they want (max-min fairness); Infinity if there is enough for all. */
function fairShare(wants: readonly number[]): number {
  let left = UNITS
  for (const [index, want] of [...wants].sort((a, b) => a - b).entries()) {
    const share = left / (wants.length - index)
    if (want > share) return share
    left -= want
  }
  return Infinity
}

/** What a region holds and needs of a cell that only one region can use at a time (R8). */
export interface WholeDemand extends Demand {
  /** The units without which it cannot grant its largest call. */
  readonly cost: number
  /** Of a peer: since when it has less. Of the region itself: since when it has its units. Microseconds of its own clock. */
  readonly since: Micros
}

/** Whether regions cannot all hold what their largest calls cost: then they take turns. Those without calls keep their reserve. */
export function takesTurns(all: readonly Pick<WholeDemand, 'need' | 'cost'>[]): boolean {
  const costs = all.reduce((sum, { need, cost }) => sum + (need > 0 ? cost : 0), 0)
  const reserved = RESERVE * all.filter(({ need }) => need === 0).length
  return costs > Math.max(UNITS - reserved, UNITS / 2)
}

/**
 * What a region sends of a cell of which the regions take turns (R8): all that it holds, or nothing. If another region holds more, the cell
 * is in parts, and the one with the most collects them. The region that holds the most keeps it for its time, and then sends it to the peer
 * that waits longest. As in R7, safety does not depend on it.
 * @param refill how long the region's largest cost takes to refill
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

/** All regions find the same one, as far as they know the same. */
function hasMore(one: Demand, other: Demand): boolean {
  return one.units > other.units || (one.units === other.units && one.region < other.region)
}

/** How long a region keeps an undivided cell that it uses, in microseconds; longer if one cost takes longer to refill. */
const MIN_STAY = 5_000_000

/** What a region knows of an undivided cell that it holds. Times are of its own clock. */
export interface HeldCell {
  readonly since: Micros
  /** Whether the region had calls of it since the last pull. */
  readonly busy: boolean
  /** How long the largest cost takes to refill. */
  readonly refill: Micros
}

/**
 * To which peer a region sends an undivided cell, whole (R8): to the one that waits longest, when it has no calls itself, or has held the
 * cell for its time. Undefined: to nobody yet.
 * @param waiting peers that were denied for lack of the cell, and since when
 */
export function recipientOf(
  { since, busy, refill }: HeldCell,
  waiting: readonly { readonly region: Region; readonly since: Micros }[],
  now: Micros,
): Region | undefined {
  if (busy && now - since < Math.max(MIN_STAY, refill)) return undefined
  return [...waiting].sort((a, b) => a.since - b.since)[0]?.region
}
