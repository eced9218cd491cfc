import { LimiterError } from '../../errors/limiter-error.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import { systemSecret } from '../../time/system.ts'
import type { MonotonicInstant, Time } from '../../time/time.ts'
import { lastShift } from '../rights/cell.ts'
import { createDonor, type Donor } from './donor.ts'
import { createEscrowPuller } from './escrow-puller.ts'
import { createHeldKeys } from './held-keys.ts'
import type { Ledger } from '../ledger.ts'
import { pageOf, type Pull, readRequest, type RegionPage } from './messages.ts'
import { createMeter } from './meter.ts'
import type { Metering } from './metering.ts'
import { createNeeds } from './needs.ts'
import { createPeerNeeds, type PeerNeeds } from './peer-needs.ts'
import { type Puller, report } from './puller.ts'
import { greet, invite } from '../rights/recovery.ts'
import { createRegionNeeds, ownNeeds } from './region-needs.ts'
import type { RegionalStore } from '../regional.ts'
import type { CarryOptions, PeerStatus, Replicator, ReplicatorStatus } from '../replicator.ts'

/** How many windows of demand are measured in each period. */
const WINDOWS = 2
/** Periods for which a peer's needs count after its last request. */
const RECENT = 3
/** Periods for which the published needs of one process count. */
const KEPT = 10

export function replicateUnits(
  { self, weights }: RegionalStore,
  metering: Metering,
  { transport, onError, periodMs, timeoutMs, clock, random }: CarryOptions,
): Replicator {
  const { ledger, maxCells, limits, shareNeeds } = metering
  const names = Object.keys(weights).filter((name) => name !== self)
  const monotonic = (): MonotonicInstant => clock.monotonic()
  const meter = createMeter(maxCells, (limit) => limits.bucketOf(limit), monotonic)
  metering.meter = ledger.limits.meter = meter
  const name = `${Math.floor(systemSecret() * 2 ** 32)}`
  const keepMs = KEPT * periodMs
  const shared = shareNeeds === undefined ? ownNeeds : createRegionNeeds(shareNeeds, meter, name, keepMs * MICROS_PER_MS)
  const heldKeys = createHeldKeys(ledger, maxCells)
  const needs = createNeeds(heldKeys, meter, shared, name)
  const peerNeeds = createPeerNeeds(maxCells, keepMs, monotonic)
  const donor = createDonor(self, ledger, heldKeys, meter, shared, peerNeeds, monotonic)
  const parts = { timeoutMs, periodMs, clock, random, onError }
  const pullers = new Map(
    transport === undefined ? [] : names.map((peer) => [peer, createEscrowPuller(self, ledger, needs, { ...parts, peer, transport })]),
  )
  const readAt = new Map<string, MonotonicInstant>()
  let closed = false
  const publish = async (): Promise<void> => {
    try {
      await shared.refresh()
      if (transport !== undefined) await needs.publish()
      else await ledger.update((region) => region)
    } catch (error) {
      report(onError, self, error)
    }
  }
  const windows = startWindows(() => meter.roll(), publish, periodMs / WINDOWS, clock)
  for (const puller of pullers.values()) puller.start()
  return {
    async answer(value) {
      if (closed) throw new LimiterError('CLOSED', 'replicate: closed')
      const request = readRequest(value, self, names)
      return answerTo(request, self, ledger, peerNeeds, donor, () => {
        const now = monotonic()
        readAt.set(request.from, now)
        pullers.get(request.from)?.onRequest()
        return names.filter((peer) => now - (readAt.get(peer) ?? -Infinity) <= RECENT * periodMs)
      })
    },
    status: () => statusOf(self, ledger, pullers, readAt, monotonic()),
    async close() {
      if (closed) return
      closed = true
      metering.meter = ledger.limits.meter = undefined
      await Promise.all([windows.close(), ...[...pullers.values()].map((puller) => puller.close())])
      // Otherwise other processes count its needs for ten more periods.
      await shared.end().catch(() => {})
    },
  }
}

function startWindows(roll: () => void, publish: () => Promise<void>, windowMs: number, clock: Time): { close(): Promise<void> } {
  let publishing: Promise<void> | undefined
  const end = (): void => {
    roll()
    // Publishing to a server may outlast a window, so only one publication runs at a time.
    publishing ??= publish().finally(() => {
      publishing = undefined
    })
    cancel = clock.after(windowMs, end)
  }
  let cancel = clock.after(windowMs, end)
  return {
    async close() {
      cancel()
      await publishing
    },
  }
}

/** @param onRead notes the peer's request, and returns the peers that recently reported the quota that they need */
async function answerTo(
  request: Pull,
  self: string,
  ledger: Ledger,
  peerNeeds: PeerNeeds,
  donor: Donor,
  onRead: () => readonly string[],
): Promise<RegionPage> {
  const { from, hello, rows: since } = request
  let answer: ReturnType<typeof greet>['answer']
  await ledger.update((region) => {
    const greeted = hello === undefined ? { store: region, answer: undefined } : greet(region, hello)
    answer = greeted.answer
    return greeted.store
  })
  const { run, joins } = invite(ledger.region, from)
  const needsAt = peerNeeds.learn(from, request)
  // Quota is sent before the page is made, so that the page contains it. Only the reading peer gets some: unread quota helps nobody.
  await donor.give(from, onRead())
  const page = await ledger.page(from, since?.run === run ? since.at : 0)
  return pageOf({ from: self, to: from, run, joins, answer, ...page, needsAt })
}

function statusOf(
  self: string,
  { region, cells, transfers }: Ledger,
  pullers: ReadonlyMap<string, Puller>,
  readAt: ReadonlyMap<string, MonotonicInstant>,
  now: MonotonicInstant,
): ReplicatorStatus {
  const since = (at: MonotonicInstant | undefined): number | undefined => (at === undefined ? undefined : now - at)
  const peers = [...pullers].map(([name, puller]): [string, PeerStatus] => {
    const { pulledAt, failures, error } = puller.status()
    return [name, { run: region.bound.get(name), lagMs: since(pulledAt), readMs: since(readAt.get(name)), failures, error }]
  })
  const { phase, era, roster } = region
  const weights = Object.fromEntries(roster.weights)
  return { self, phase, era, weights, units: lastShift(region).units, cells, transfers: { ...transfers }, peers: Object.fromEntries(peers) }
}
