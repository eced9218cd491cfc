import { LimiterError } from '../errors/limiter-error.ts'
import { checkOptions, CLOCK, type Form, FUNCTION, OBJECT, requireForm, within } from '../errors/options.ts'
import { MICROS_PER_MS } from '../time/micros.ts'
import { systemRandom, systemSecret, systemTime } from '../time/system.ts'
import type { MonotonicInstant } from '../time/time.ts'
import { replicateSpend } from './counters-replicate.ts'
import type { Ledger } from './ledger.ts'
import { pageOf, readRequest } from './messages.ts'
import { createNeeds } from './needs.ts'
import { createDonor } from './donor.ts'
import { createPeerNeeds } from './peer-needs.ts'
import { createEscrowPuller } from './escrow-puller.ts'
import { type Puller, report } from './puller.ts'
import { lastShift } from './cell.ts'
import { greet, invite } from './recovery.ts'
import { createHeldKeys } from './held-keys.ts'
import { createMeter } from './meter.ts'
import { createRegionNeeds, ownNeeds } from './region-needs.ts'
import { countersOf, meteringOf } from './regional-store.ts'
import type { PeerStatus, ReplicateOptions, Replicator, ReplicatorStatus } from './replicator.ts'

type Transport = NonNullable<ReplicateOptions['transport']>

const PERIOD: Form = within(100, 60_000)
const FORMS: Readonly<Record<string, Form>> = {
  store: OBJECT,
  transport: FUNCTION,
  periodMs: PERIOD,
  timeoutMs: PERIOD,
  onError: FUNCTION,
  clock: CLOCK,
  random: FUNCTION,
}
/** How often in a period the demand is measured. */
const WINDOWS = 2
/** A peer's figures count for this many periods. */
const RECENT = 3
/** What another process published, of this region or a peer, counts for this many periods. */
const KEPT = 10

/**
 * Reads from each peer, about once a second, what it has sent to this region and what it needs, and sends units of keys to the peers whose
 * callers need more than they have (R7). It keeps nothing that must outlive it: whatever is lost, late or repeated, the regions never admit
 * more than the limit. Keys without a denied call cost no message.
 * @throws LimiterError INVALID_OPTIONS, NOT_SUPPORTED for a store without `mode: 'escrow'`
 */
export function replicate(options: ReplicateOptions): Replicator {
  checkOptions('replicate', options, FORMS)
  requireForm('replicate', 'store', options.store, OBJECT)
  const { store, transport, periodMs = 1_000, timeoutMs = 5_000, onError, clock = systemTime, random = systemRandom } = options
  const counters = countersOf(store)
  if (counters !== undefined) {
    requireForm('replicate', 'transport', transport, FUNCTION)
    return replicateSpend(store, counters, { transport: transport as Transport, periodMs, timeoutMs, onError, clock, random })
  }
  const metering = meteringOf('replicate', store)
  if (metering.shareNeeds === undefined) requireForm('replicate', 'transport', transport, FUNCTION)
  if (metering.meter !== undefined)
    throw new LimiterError('INVALID_OPTIONS', 'replicate: the store has a replicator already: close it first')
  const { self, weights } = store
  const { ledger, maxCells, limits, shareNeeds } = metering
  const names = Object.keys(weights).filter((name) => name !== self)
  const monotonic = (): MonotonicInstant => clock.monotonic()
  const meter = createMeter(maxCells, (limit) => limits.bucketOf(limit), monotonic)
  metering.meter = meter
  ledger.limits.meter = meter
  const name = `${Math.floor(systemSecret() * 2 ** 32)}`
  const shared = shareNeeds === undefined ? ownNeeds : createRegionNeeds(shareNeeds, meter, name, KEPT * periodMs * MICROS_PER_MS)
  const heldKeys = createHeldKeys(ledger, maxCells)
  const needs = createNeeds(heldKeys, meter, shared, name)
  const peerNeeds = createPeerNeeds(maxCells, KEPT * periodMs, monotonic)
  const donor = createDonor(self, ledger, heldKeys, meter, shared, peerNeeds, monotonic)
  const readAt = new Map<string, MonotonicInstant>()
  const isRecent = (at: MonotonicInstant | undefined): boolean => at !== undefined && clock.monotonic() - at <= RECENT * periodMs
  let closed = false
  const parts = { timeoutMs, periodMs, clock, random, onError }
  const pullers = new Map(
    transport === undefined ? [] : names.map((peer) => [peer, createEscrowPuller(self, ledger, needs, { ...parts, peer, transport })]),
  )
  let cancel = (): void => {}
  let rolling: Promise<void> | undefined
  const publish = async (): Promise<void> => {
    try {
      await shared.refresh()
      if (transport !== undefined) await needs.publish()
      else await ledger.update((region) => region)
    } catch (error) {
      report(onError, self, error)
    }
    rolling = undefined
  }
  const roll = (): void => {
    meter.roll()
    // A store on a server may take longer than a period.
    rolling ??= publish()
    cancel = clock.after(periodMs / WINDOWS, roll)
  }
  cancel = clock.after(periodMs / WINDOWS, roll)
  for (const puller of pullers.values()) puller.start()
  return {
    async answer(value) {
      if (closed) throw new LimiterError('CLOSED', 'replicate: closed')
      const request = readRequest(value, self, names)
      const { from, hello, rows: since } = request
      let answer: ReturnType<typeof greet>['answer']
      await ledger.update((region) => {
        const greeted = hello === undefined ? { store: region, answer: undefined } : greet(region, hello)
        answer = greeted.answer
        return greeted.store
      })
      const { run, joins } = invite(ledger.region, from)
      const needsAt = peerNeeds.learn(from, request)
      readAt.set(from, clock.monotonic())
      pullers.get(from)?.onRequest()
      // Before the page is made: it has what is sent by it. Only a peer that reads now gets units, because on their way they are of no use.
      await donor.give(
        from,
        names.filter((peer) => isRecent(readAt.get(peer))),
      )
      const page = await ledger.page(from, since?.run === run ? since.at : 0)
      return pageOf({ from: self, to: from, run, joins, answer, ...page, needsAt })
    },
    status: () => statusOf(self, ledger, pullers, readAt, clock.monotonic()),
    async close() {
      if (closed) return
      closed = true
      cancel()
      metering.meter = undefined
      ledger.limits.meter = undefined
      await Promise.all([rolling, ...[...pullers.values()].map((puller) => puller.close())])
      // Else it counts until it is too old.
      await shared.end().catch(() => {})
    },
  }
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
