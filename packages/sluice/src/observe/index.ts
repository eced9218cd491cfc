export type { DecisionEvent, Observer, RuleResult } from './events.ts'
export { type PrometheusMetrics, prometheusMetrics } from './metrics.ts'
