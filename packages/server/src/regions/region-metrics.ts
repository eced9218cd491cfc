import type { ReadMetric } from 'sluice/observe'
import type { Replicator } from 'sluice/regions'
import { counter, gauge } from '../http/service-metrics.ts'
import type { OwnStore } from './own-store.ts'

export interface RegionCounts {
  /** Requests that no region had signed. */
  refused: number
  /** Pulls that failed, by peer. */
  readonly failed: Map<string, number>
}

const PHASES = { open: 0, closed: 1, learning: 2 } as const
const PHASE_HELP = 'Whether units are sent and received: 0 open (yes), 1 closed (an era ends), 2 learning (it holds nothing yet).'
const WEIGHT_HELP = 'Thousandths of every limit that a region holds at the start of this era.'
const ERA_HELP = 'How many eras the regions have begun. A lost store begins one.'
const UNITS_HELP = 'Thousandths of a limit that the region holds of a key that has sent and received nothing.'
const CELLS_HELP = 'Keys that have sent or received units in this era.'
const STORE_HELP = "1 while the region's own store fails: no peer is read, and its other metrics are as last read. Else 0."
const LAG_HELP = 'Seconds since the start of the latest pull that read all of a peer.'
const FAILED_HELP = 'Pulls of a peer that failed.'
const TRANSFERS_HELP = 'How often units of a key were sent to another region, or received.'
const SENT_HELP = 'Thousandths of limits that were sent to other regions, or received.'
const REFUSED_HELP = 'Requests for rows that were refused, because no region had signed them.'

export function weightMetrics(weightsNow: () => Readonly<Record<string, number>>): readonly ReadMetric[] {
  return [
    gauge('sluice_region_weight', WEIGHT_HELP, () =>
      Object.entries(weightsNow()).map(([region, value]) => ({ labels: { region }, value })),
    ),
  ]
}

export function ownStoreMetric({ status }: Replicator, own: Pick<OwnStore, 'failure'>): ReadMetric {
  return gauge('sluice_region_store_failing', STORE_HELP, () => [{ value: own.failure(status()) === undefined ? 0 : 1 }])
}

export function regionMetrics({ status }: Replicator, counts: RegionCounts): readonly ReadMetric[] {
  // Removed regions have no weight; their metrics would only cause alerts.
  const isRemoved = (peer: string): boolean => !Object.hasOwn(status().weights, peer)
  const one = (read: () => number) => () => [{ value: read() }]
  const both = (read: (transfers: ReturnType<typeof status>['transfers']) => readonly [sent: number, received: number]) => () => {
    const [sent, received] = read(status().transfers)
    return [
      { labels: { direction: 'sent' }, value: sent },
      { labels: { direction: 'received' }, value: received },
    ]
  }
  return [
    gauge(
      'sluice_region_phase',
      PHASE_HELP,
      one(() => PHASES[status().phase]),
    ),
    gauge(
      'sluice_region_era',
      ERA_HELP,
      one(() => status().era),
    ),
    gauge(
      'sluice_region_units',
      UNITS_HELP,
      one(() => status().units),
    ),
    gauge(
      'sluice_region_cells',
      CELLS_HELP,
      one(() => status().cells),
    ),
    gauge('sluice_region_lag_seconds', LAG_HELP, () =>
      Object.entries(status().peers).flatMap(([peer, { lagMs }]) =>
        lagMs === undefined || isRemoved(peer) ? [] : [{ labels: { peer }, value: lagMs / 1_000 }],
      ),
    ),
    counter('sluice_region_pulls_failed_total', FAILED_HELP, () =>
      [...counts.failed].flatMap(([peer, value]) => (isRemoved(peer) ? [] : [{ labels: { peer }, value }])),
    ),
    counter(
      'sluice_region_transfers_total',
      TRANSFERS_HELP,
      both(({ sent, received }) => [sent, received]),
    ),
    counter(
      'sluice_region_units_total',
      SENT_HELP,
      both(({ unitsSent, unitsReceived }) => [unitsSent, unitsReceived]),
    ),
    counter(
      'sluice_region_requests_refused_total',
      REFUSED_HELP,
      one(() => counts.refused),
    ),
  ]
}
