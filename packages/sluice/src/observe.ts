export type { ChargeEvent, DecisionEvent, Observer, RuleResult, StoreEvent } from './observe/events.ts'
export { type MetricsOptions, type PrometheusMetrics, prometheusMetrics, type ReadMetric } from './observe/metrics.ts'
export { type KeyCount, topKeys, type TopKeys } from './observe/top-keys.ts'
