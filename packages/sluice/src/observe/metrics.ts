import { checkOptions, type Form } from '../errors/options.ts'
import type { DecisionEvent, Observer, RuleResult, StoreEvent } from './events.ts'
import { counter, gauge, headOf, histogram, type Metric, numberText } from './exposition.ts'
import { labelsText } from './series.ts'

/** A metric that is read when it is scraped, such as the size of a store. */
export interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge'
  /** The current values. Labels must be few, and never an identity. */
  read(): readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[]
}

export interface MetricsOptions {
  /** Written after the built-in metrics. */
  readonly read?: readonly ReadMetric[]
}

/** Observes decisions and store calls, and writes their metrics for a scrape. */
export interface PrometheusMetrics extends Observer {
  onDecision(event: DecisionEvent): void
  onStoreCall(event: StoreEvent): void
  /** The text exposition format, version 0.0.4. */
  text(): string
  readonly contentType: string
}

const FORMS: Readonly<Record<string, Form>> = {
  read: [
    (value) => Array.isArray(value) && value.every((one: ReadMetric | null | undefined) => typeof one?.read === 'function'),
    'a list of { name, help, type, read }',
  ],
}

/** Metrics in the text format of Prometheus, without a client library. No identity is a label. @throws LimiterError INVALID_OPTIONS */
export function prometheusMetrics(options: MetricsOptions = {}): PrometheusMetrics {
  checkOptions('prometheusMetrics', options, FORMS)
  const { read = [] } = options
  const requests = counter('sluice_requests_total', 'Decisions by rule, route and result.', ['rule', 'route', 'result'])
  const blocked = counter('sluice_requests_blocked_total', 'Requests refused, by rule, route and reason.', ['rule', 'route', 'reason'])
  const errors = counter('sluice_store_errors_total', 'Decisions that a store should have made and did not, by kind.', ['store', 'kind'])
  const degraded = gauge('sluice_degraded', '1 where the last decision of the rule was made without its store.', ['rule'])
  const decisions = histogram('sluice_decision_duration_seconds', 'Time a decision took, by who made it.', ['source'])
  const calls = histogram('sluice_store_duration_seconds', 'Time a call of the store took, failed ones included.', ['store', 'operation'])
  const all: readonly Metric[] = [requests, blocked, errors, degraded, decisions, calls, ...read.map(readable)]
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    onDecision({ decision, route = '', durationMs, results, store }) {
      decisions.observe(durationMs / 1_000, decision.source)
      for (const { rule, result, shadow } of results) {
        requests.add(rule, route, result)
        degraded.set(decision.degraded === undefined && result !== 'undecided' ? 0 : 1, rule)
        const reason = decision.allowed || shadow === true ? undefined : reasonOf(result, decision.reason)
        if (reason !== undefined) blocked.add(rule, route, reason)
      }
      if (decision.degraded !== undefined) errors.add(store, decision.degraded.kind)
    },
    onStoreCall: ({ store, operation, durationMs }) => calls.observe(durationMs / 1_000, store, operation),
    text: () => `${all.map((metric) => metric.text()).join('\n')}\n`,
  }
}

function reasonOf(result: RuleResult['result'], reason: string | undefined): string | undefined {
  switch (result) {
    case 'denied':
      return reason ?? 'quota'
    case 'impossible':
      return reason ?? 'capacity'
    case 'undecided':
      return 'store'
    default:
      return undefined
  }
}

function readable({ name, help, type, read }: ReadMetric): Metric {
  return {
    text() {
      const lines = headOf(name, help, type)
      for (const { labels = {}, value } of read()) {
        const at = labelsText(Object.entries(labels))
        lines.push(`${name}${at === '' ? '' : `{${at}}`} ${numberText(value)}`)
      }
      return lines.join('\n')
    },
  }
}
