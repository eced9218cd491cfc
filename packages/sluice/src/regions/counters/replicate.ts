import { LimiterError } from '../../errors/limiter-error.ts'
import type { MonotonicInstant } from '../../time/time.ts'
import type { Counters } from './counters.ts'
import { readSpendRequest, spendPage } from './messages.ts'
import { createSpendPuller, type SpendPuller } from './puller.ts'
import { UNITS } from '../rights/limit.ts'
import type { RegionalStore } from '../regional.ts'
import type { CarryOptions, PeerStatus, Replicator, ReplicatorStatus, ReplicateOptions } from '../replicator.ts'

/** Charges this region's states for what peers have spent. */
export function replicateSpend(
  store: RegionalStore,
  counters: Counters,
  transport: NonNullable<ReplicateOptions['transport']>,
  options: Omit<CarryOptions, 'transport'>,
): Replicator {
  const { periodMs, timeoutMs, onError, clock, random } = options
  const { self, weights } = store
  const names = Object.keys(weights).filter((name) => name !== self)
  const monotonic = (): MonotonicInstant => clock.monotonic()
  if (counters.attached) throw new LimiterError('INVALID_OPTIONS', 'replicate: the store has a replicator already: close it first')
  requirePeriods(counters.cutoffMs, periodMs)
  counters.attach(monotonic)
  const readAt = new Map<string, MonotonicInstant>()
  const parts = { transport, periodMs, timeoutMs, clock, random, onError }
  const pullers = new Map(names.map((peer) => [peer, createSpendPuller(self, counters, { ...parts, peer })]))
  for (const { puller } of pullers.values()) puller.start()
  let closed = false
  let cancel = (): void => {}
  const sweep = (): void => {
    counters.sweep()
    cancel = clock.after(periodMs, sweep)
  }
  cancel = clock.after(periodMs, sweep)
  return {
    async answer(value) {
      if (closed) throw new LimiterError('CLOSED', 'replicate: closed')
      const { from, read } = readSpendRequest(value, self, names)
      readAt.set(from, monotonic())
      return spendPage(self, from, counters.run, counters.page(from, read))
    },
    status: () => statusOf(store, counters, pullers, readAt, monotonic()),
    async close() {
      if (closed) return
      closed = true
      cancel()
      await Promise.all([...pullers.values()].map(({ puller }) => puller.close()))
      counters.detach()
    },
  }
}

/** Between two reads of a peer pass up to 1.1 periods and two round trips: a shorter cutoff would cut off healthy regions. */
function requirePeriods(cutoffMs: number | undefined, periodMs: number): void {
  if (cutoffMs === undefined || cutoffMs >= 2 * periodMs) return
  throw new LimiterError(
    'INVALID_OPTIONS',
    `replicate: periodMs is ${periodMs}, expected at most half of the store's cutoffMs, ${cutoffMs}`,
  )
}

function statusOf(
  { self, weights }: RegionalStore,
  counters: Counters,
  pullers: ReadonlyMap<string, SpendPuller>,
  readAt: ReadonlyMap<string, MonotonicInstant>,
  now: MonotonicInstant,
): ReplicatorStatus {
  const since = (at: MonotonicInstant | undefined): number | undefined => (at === undefined ? undefined : now - at)
  const peers = [...pullers].map(([name, { puller, run }]): [string, PeerStatus] => {
    const { pulledAt, failures, error } = puller.status()
    return [name, { run: run(), lagMs: since(pulledAt), readMs: since(readAt.get(name)), failures, error }]
  })
  const isCut = counters.cutSince() !== undefined
  return {
    self,
    phase: isCut ? 'learning' : 'open',
    era: 0,
    weights,
    units: isCut ? (weights[self] as number) : UNITS,
    cells: counters.spend.size,
    transfers: { sent: 0, received: 0, unitsSent: 0, unitsReceived: 0 },
    peers: Object.fromEntries(peers),
  }
}
