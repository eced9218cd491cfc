import { type Observer, prometheusMetrics, topKeys } from 'sluice/observe'
import type { Engine } from 'sluice/policy'
import type { adminAccess } from '../../http/admin.ts'
import { connectionMetrics } from '../../http/connection-bound.ts'
import type { Connections } from '../../http/connections.ts'
import { createOutage } from '../../http/outage-metric.ts'
import { processMetrics } from '../../http/process-metrics.ts'
import { serviceMetrics } from '../../http/service-metrics.ts'
import type { tokenCounts } from '../../identity/verifier.ts'
import type { DecisionLog } from '../../logs/decision-log.ts'
import { createActivity } from '../../page/activity.ts'
import { countedBy } from '../../page/busiest-keys.ts'
import type { HeldPolicy } from '../../policy/held-policy.ts'
import { createKeyCount } from '../../stores/key-count.ts'
import { storeKindOf } from '../../stores/ring.ts'
import type { ReadReports } from '../../workers/messages.ts'
import type { ServiceStore } from './service-store.ts'

interface Measured {
  /** Absent without an admin token. */
  readonly admin: ReturnType<typeof adminAccess> | undefined
  readonly tokens: ReturnType<typeof tokenCounts>
  readonly decisionLog: DecisionLog
}

/** Created after the observers, so read at each decision or scrape. */
interface Later {
  engine(): Engine
  policy(): HeldPolicy
  connections(): Connections
}

export interface Observation {
  readonly observers: readonly Observer[]
  readonly metricsType: string
  readonly reports: Omit<ReadReports, 'readiness'>
}

export function observe({ opened, ring, health, region }: ServiceStore, measured: Measured, later: Later): Observation {
  const { admin, tokens, decisionLog } = measured
  const policyNow = () => later.engine().policy
  const keyCount = createKeyCount(opened.countKeys)
  const ofService = serviceMetrics(opened.store, () => ({ policy: later.policy(), ring, keys: keyCount.last }))
  const outage = createOutage(policyNow, storeKindOf(opened.store))
  const ofProcess = [...connectionMetrics(later.connections), ...processMetrics()]
  const metrics = prometheusMetrics({
    read: [
      ...ofService,
      outage.metric,
      ...(admin?.metrics ?? []),
      tokens.metric,
      ...decisionLog.metrics,
      ...ofProcess,
      ...(region?.metrics ?? []),
    ],
  })
  const [activity, top] = [createActivity(policyNow), topKeys()]
  const ofStore = ring === undefined ? [] : [outage.observer, health.observer]
  return {
    // Counting keys costs more than deciding. Only an administrator can read the counts.
    observers: [metrics, activity, ...decisionLog.observers, ...ofStore, ...(admin === undefined ? [] : [top])],
    metricsType: metrics.contentType,
    reports: {
      metrics: async (isFirst = true) => {
        await keyCount.refresh(isFirst)
        return metrics.text()
      },
      top: () => [countedBy(top)],
      activity: () => [activity.report()],
    },
  }
}
