import type { Micros } from '../../time/micros.ts'
import { UNITS } from '../rights/limit.ts'
import type { Region } from '../rights/roster.ts'

export interface Demand {
  readonly region: Region
  readonly units: number
  /** The cost per second that callers attempted, also in denied calls, in thousandths (UNITS) of the limit's rate. May exceed UNITS. */
  readonly need: number
}

export interface Gift {
  readonly to: Region
  /** How many units to send; a whole number above 0. */
  readonly units: number
}

/** Each region gets this multiple of its need if units suffice. */
const MARGIN = 1.1
/**
 * A peer with fewer units than its need is sent units if it lacks at least this many, or this fraction, of its need plus margin.
 */
const MIN_GIFT: number = UNITS / 100
const MIN_GIFT_FRACTION = 0.1
/** Units that a region without calls keeps for its first call. */
const RESERVE: number = UNITS / 100

/**
 * How many quota units of a key a region sends to its peers. It keeps what it needs, or its fair share if units are scarce, and sends the
 * rest to peers that have too few. The limit is never exceeded, however old the peers' figures are.
 * @param total the units that the region and these peers hold together; below UNITS if unreachable regions hold the rest
 */
export function giftsOf(own: Demand, peers: readonly Demand[], reserve: number = RESERVE, total: number = UNITS): readonly Gift[] {
  const all = [own, ...peers]
  // One margin for all, smaller if units are scarce. Otherwise a busy region might get none while others get more than they use.
  const margin = Math.min(MARGIN, Math.max(1, total / all.reduce((sum, { need }) => sum + need, 0)))
  const fair = fairShare(
    all.map(({ need }) => need * margin),
    total,
  )
  const keep = Math.max(reserve, Math.min(own.need * margin, fair))
  const left = Math.max(0, Math.floor(own.units - keep))
  const lacking = peers
    .filter(({ units, need }) => units < need)
    .map(({ region, units, need }) => {
      const wanted = Math.min(need * margin, UNITS)
      return { to: region, wanted, lacks: Math.round(wanted - units) }
    })
    .filter(({ wanted, lacks }) => lacks > 0 && lacks >= Math.min(MIN_GIFT, wanted * MIN_GIFT_FRACTION))
  const lack = lacking.reduce((sum, { lacks }) => sum + lacks, 0)
  return lacking
    .map(({ to, lacks }) => ({ to, units: lack <= left ? lacks : Math.floor((left * lacks) / lack) }))
    .filter(({ units }) => units > 0)
}

/** The most units that one region gets if there are too few for all (max-min fairness); Infinity if there are enough. */
function fairShare(wants: readonly number[], total: number): number {
  let left = total
  for (const [index, want] of [...wants].sort((a, b) => a - b).entries()) {
    const share = left / (wants.length - index)
    if (want > share) return share
    left -= want
  }
  return Infinity
}

/** The demand for a key that regions use in turns, because a share of it could not grant the largest call. */
export interface WholeDemand extends Demand {
  /** The units that the region must hold to grant its largest call. */
  readonly cost: number
  /** For a peer, since when its units have been below `cost`; for the region itself, since when they last increased. */
  readonly since: Micros
}

/** Whether there are too few units for the largest calls of all regions at once. A region without calls counts with `RESERVE`. */
export function takesTurns(all: readonly Pick<WholeDemand, 'need' | 'cost'>[]): boolean {
  const costs = all.reduce((sum, { need, cost }) => sum + (need > 0 ? cost : 0), 0)
  const reserved = RESERVE * all.filter(({ need }) => need === 0).length
  return costs > Math.max(UNITS - reserved, UNITS / 2)
}

/**
 * Regions use the key in turns, so a region sends all its units or none. The region with the most units collects them, keeps them for at
 * least `MIN_STAY`, and then sends them to the peer that has waited longest.
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

/** On a tie the first name wins, so that all regions agree. */
function hasMore(one: Demand, other: Demand): boolean {
  return one.units > other.units || (one.units === other.units && one.region < other.region)
}

/** A region with calls keeps all units (the right to a key's limit) at least these microseconds, and while its largest cost refills. */
const MIN_STAY = 5_000_000

/** A key of which a region holds all units. Times are microseconds on that region's clock. */
export interface HeldCell {
  readonly since: Micros
  /** Whether the region itself has calls of the key. */
  readonly busy: boolean
  /** The time in which the region's largest cost is refilled. */
  readonly refill: Micros
}

/**
 * The peer that has waited longest. Undefined if none waits, or while a region with calls must still keep the units (`MIN_STAY`).
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
