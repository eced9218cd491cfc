export type { DecisionEvent, Observer, RuleResult, StoreEvent } from './events.ts'
export { type MetricsOptions, type PrometheusMetrics, prometheusMetrics, type ReadMetric } from './metrics.ts'
