import { checkOptions, type Form, hasMethods, LIST, requireForm } from '../errors/options.ts'
import type { DecisionEvent, Observer, StoreEvent } from './events.ts'
import { counter, gauge, headOf, histogram, type Metric, numberText, type Value } from './exposition.ts'
import { labelsText, MAX_SERIES } from './series.ts'

/** A metric that is read at each scrape, such as the size of a store. */
export interface ReadMetric {
  /** Letters, digits, `_` and `:`, not beginning with a digit. */
  readonly name: string
  /** One line: what is measured, and in which unit. */
  readonly help: string
  /** `counter` only grows; `gauge` goes up and down. */
  readonly type: 'counter' | 'gauge'
  /** Labels must have few values, and never an identity. */
  read(): readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[]
}

/** Options of `prometheusMetrics`. */
export interface MetricsOptions {
  /** Written after the built-in metrics. */
  readonly read?: readonly ReadMetric[] | undefined
}

/** Counts decisions and store calls. */
export interface PrometheusMetrics extends Observer {
  /** Counts a decision. */
  onDecision(event: DecisionEvent): void
  /** Counts a store call. */
  onStoreCall(event: StoreEvent): void
  /**
   * The text exposition format, version 0.0.4. Throws what a `read` function throws.
   * @throws LimiterError INVALID_OPTIONS if a `read` returns anything but a list of readings
   */
  text(): string
  /** The value of Content-Type for `text`. */
  readonly contentType: string
}

const FORMS: Readonly<Record<string, Form>> = {
  read: [(value) => Array.isArray(value) && value.every(isReadMetric), "a list of { name, help, type: 'counter' or 'gauge', read }"],
}

function isReadMetric(value: unknown): boolean {
  if (!hasMethods(value, 'read')) return false
  const { name, help, type } = value as Record<string, unknown>
  return typeof name === 'string' && /^[a-zA-Z_:][\w:]*$/.test(name) && typeof help === 'string' && (type === 'counter' || type === 'gauge')
}

const READING: Form = [
  (value) => typeof value === 'object' && value !== null && typeof (value as { readonly value?: unknown }).value === 'number',
  '{ labels, value } with a number as value',
]

/**
 * Metrics in the text format of Prometheus. No label is an identity.
 * @throws LimiterError INVALID_OPTIONS
 */
export function prometheusMetrics(options: MetricsOptions = {}): PrometheusMetrics {
  checkOptions('prometheusMetrics', options, FORMS)
  const { read = [] } = options
  const metrics = builtIn()
  const { outcomes, requests, blocked, newKeys, errors, degraded, decisions, calls } = metrics
  const all: readonly Metric[] = [...Object.values(metrics), ...read.map(readable)]
  const byName = createLookups()
  // Cached by route, then by rule, so that a decision's series of one rule share these lookups.
  const routeAt = byName((route) => ({
    outcome: byName((outcome) => outcomes.at(route, outcome)),
    rule: byName((rule) => ({
      result: byName((result) => requests.at(rule, route, result)),
      blocked: byName((reason) => blocked.at(rule, route, reason)),
      ...NO_SERIES,
    })),
  }))
  const decisionsOf = byName((source) => decisions.at(source))
  const storeAt = byName((store) => ({
    calls: byName((operation) => calls.at(store, operation)),
    errors: byName((kind) => errors.at(store, kind)),
  }))
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    onDecision({ decision, route = '', durationMs, results, refusedBy, store }) {
      const series = routeAt(route)
      series.outcome(decision.outcome).value += 1
      decisionsOf(decision.source).observe(durationMs / 1_000)
      let failed = decision.degraded?.kind
      for (const { rule, result, newKey, failure } of results) {
        const ofRule = series.rule(rule)
        ofRule.result(result).value += 1
        ;(ofRule.degraded ??= degraded.at(rule)).value = failure === undefined ? 0 : 1
        if (newKey === true) (ofRule.newKeys ??= newKeys.at(rule)).value += 1
        failed ??= failure
      }
      if (refusedBy !== undefined) series.rule(refusedBy).blocked(decision.reason ?? 'store').value += 1
      if (failed !== undefined) storeAt(store).errors(failed).value += 1
    },
    onStoreCall: ({ store, operation, durationMs }) =>
      storeAt(store)
        .calls(operation)
        .observe(durationMs / 1_000),
    text: () => `${all.map((metric) => metric.text()).join('\n')}\n`,
  }
}

/** Metrics are written in this order. */
function builtIn() {
  return {
    outcomes: counter('sluice_decisions_total', 'Requests that were decided: each counts once.', ['route', 'outcome']),
    requests: counter('sluice_requests_total', 'Decisions by rule: a request counts for each rule that applies.', [
      'rule',
      'route',
      'result',
    ]),
    blocked: counter('sluice_requests_blocked_total', 'Requests that were refused: each counts once, for one rule.', [
      'rule',
      'route',
      'reason',
    ]),
    newKeys: counter('sluice_new_keys_total', 'States that charges made in the store: of new keys, and of keys whose state had expired.', [
      'rule',
    ]),
    errors: counter('sluice_store_errors_total', 'Decisions that a store should have made and did not, by kind.', ['store', 'kind']),
    degraded: gauge('sluice_degraded', '1 where the last decision of the rule was made without its store.', ['rule']),
    decisions: histogram('sluice_decision_duration_seconds', 'Time a decision took, by who made it.', ['source']),
    calls: histogram('sluice_store_duration_seconds', 'Time a call of the store took, failed ones included.', ['store', 'operation']),
  }
}

const NO_SERIES: { degraded: Value | undefined; newKeys: Value | undefined } = { degraded: undefined, newKeys: undefined }

/** Lookups that create the value of an unknown name. Together they cache at most a fixed number of values. */
function createLookups() {
  let room = 10 * MAX_SERIES
  return <T>(make: (name: string) => T): ((name: string) => T) => {
    const known = new Map<string, T>()
    // Names often repeat, and comparing with the last one takes a tenth of the time of a map lookup.
    let last: string | undefined
    let latest: T
    return (name) => {
      if (name === last) return latest
      last = name
      const found = known.get(name)
      if (found !== undefined) return (latest = found)
      latest = make(name)
      if (room > 0) known.set(name, latest)
      room -= 1
      return latest
    }
  }
}

function readable({ name, help, type, read }: ReadMetric): Metric {
  return {
    text() {
      const lines = headOf(name, help, type)
      const readings = read()
      requireForm('prometheusMetrics', `what read of ${name} returned`, readings, LIST)
      for (const reading of readings) {
        requireForm('prometheusMetrics', `a reading of ${name}`, reading, READING)
        const { labels = {}, value } = reading
        const at = labelsText(Object.entries(labels))
        lines.push(`${name}${at === '' ? '' : `{${at}}`} ${numberText(value)}`)
      }
      return lines.join('\n')
    },
  }
}
