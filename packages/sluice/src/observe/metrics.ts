import type { DecisionEvent, Observer, RuleResult } from './events.ts'

/** Upper bounds in seconds: decisions take microseconds in memory and up to a deadline on a network. */
const BUCKETS = [0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]
/** Series kept per metric; further label values are counted together, so that no client can fill the memory. */
const MOST_SERIES = 1_000
const OTHER = 'other'

/** Subscribes to decisions and writes them down for a scrape. */
export interface PrometheusMetrics extends Observer {
  /** The text exposition format, version 0.0.4. */
  text(): string
  readonly contentType: string
}

/** Counters and a histogram in the text format of Prometheus, without a client library. No identity is ever a label. */
export function prometheusMetrics(): PrometheusMetrics {
  const requests = counter('sluice_requests_total', 'Decisions by rule, route and result.', ['rule', 'route', 'result'])
  const blocked = counter('sluice_requests_blocked_total', 'Requests refused, by rule, route and reason.', ['rule', 'route', 'reason'])
  const degraded = counter('sluice_store_errors_total', 'Decisions that a store should have made and did not, by kind.', ['store', 'kind'])
  const durations = new Map<string, { counts: number[]; sum: number; total: number }>()

  const observeDuration = (source: string, seconds: number): void => {
    const series = durations.get(source) ?? { counts: BUCKETS.map(() => 0), sum: 0, total: 0 }
    durations.set(source, series)
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) series.counts[bucket] = (series.counts[bucket] as number) + 1
    series.sum += seconds
    series.total += 1
  }
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    decided(event: DecisionEvent) {
      const { decision, route = '', durationMs } = event
      observeDuration(decision.source, durationMs / 1_000)
      for (const { rule, result } of event.results) {
        requests.add([rule, route, result])
        const reason = REASONS[result]
        if (!decision.allowed && reason !== undefined) blocked.add([rule, route, reason])
      }
      if (decision.degraded !== undefined) degraded.add([event.store, decision.degraded.kind])
    },
    text: () => `${[requests.text(), blocked.text(), degraded.text(), histogram(durations)].join('\n')}\n`,
  }
}

/** Why a rule refused; the others did not. */
const REASONS: Readonly<Record<RuleResult['result'], string | undefined>> = {
  allowed: undefined,
  shadow_denied: undefined,
  denied: 'quota',
  impossible: 'capacity',
  undecided: 'store',
}

interface Counter {
  add(values: readonly string[]): void
  text(): string
}

function counter(name: string, help: string, labels: readonly string[]): Counter {
  const series = new Map<string, number>()
  const write = (values: readonly string[]): string => labels.map((label, index) => `${label}="${escape(values[index] ?? '')}"`).join(',')
  return {
    add(values) {
      const wanted = write(values)
      const at = series.has(wanted) || series.size < MOST_SERIES ? wanted : write(labels.map(() => OTHER))
      series.set(at, (series.get(at) ?? 0) + 1)
    },
    text: () =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...[...series].map(([at, value]) => `${name}{${at}} ${value}`)].join('\n'),
  }
}

function histogram(durations: ReadonlyMap<string, { counts: readonly number[]; sum: number; total: number }>): string {
  const name = 'sluice_decision_duration_seconds'
  const lines = [`# HELP ${name} Time a decision took, by who made it.`, `# TYPE ${name} histogram`]
  for (const [source, { counts, sum, total }] of durations) {
    let running = 0
    counts.forEach((count, index) => {
      running += count
      lines.push(`${name}_bucket{source="${source}",le="${BUCKETS[index] as number}"} ${running}`)
    })
    lines.push(
      `${name}_bucket{source="${source}",le="+Inf"} ${total}`,
      `${name}_sum{source="${source}"} ${sum}`,
      `${name}_count{source="${source}"} ${total}`,
    )
  }
  return lines.join('\n')
}

function escape(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
