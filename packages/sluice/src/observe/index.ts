export type { ChargeEvent, DecisionEvent, Observer, RuleResult, StoreEvent } from './events.ts'
export { type MetricsOptions, type PrometheusMetrics, prometheusMetrics, type ReadMetric } from './metrics.ts'
export { type KeyCount, topKeys, type TopKeys } from './top-keys.ts'
