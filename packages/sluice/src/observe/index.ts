export type { DecisionEvent, Observer } from './events.ts'
export { type PrometheusMetrics, prometheusMetrics, type RuleEvent, type RuleResult } from './metrics.ts'
