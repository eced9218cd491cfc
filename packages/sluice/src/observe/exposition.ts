import { createSeries, type Series } from './series.ts'

export interface Metric {
  /** Its lines in the text format of Prometheus, without a final line end; only the head if nothing was counted. */
  text(): string
}

export interface Counter extends Metric {
  add(...labels: readonly string[]): void
}

export interface Gauge extends Metric {
  set(value: number, ...labels: readonly string[]): void
}

export interface Histogram extends Metric {
  observe(seconds: number, ...labels: readonly string[]): void
}

/** Upper bounds in seconds. Decisions take microseconds in memory and up to a deadline on a network. */
const BUCKETS = [0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

export function counter(name: string, help: string, labels: readonly string[]): Counter {
  const { series, text } = singleValues(name, help, labels, 'counter')
  return { add: (...values) => void (series.at(...values).value += 1), text }
}

export function gauge(name: string, help: string, labels: readonly string[]): Gauge {
  const { series, text } = singleValues(name, help, labels, 'gauge')
  return { set: (value, ...values) => void (series.at(...values).value = value), text }
}

function singleValues(
  name: string,
  help: string,
  labels: readonly string[],
  type: 'counter' | 'gauge',
): Metric & { readonly series: Series<{ value: number }> } {
  const series = createSeries(labels, () => ({ value: 0 }))
  return {
    series,
    text() {
      const lines = headOf(name, help, type)
      series.each((at, { value }) => lines.push(`${name}{${at}} ${numberText(value)}`))
      return lines.join('\n')
    },
  }
}

export function histogram(name: string, help: string, labels: readonly string[]): Histogram {
  const series = createSeries(labels, () => ({ counts: BUCKETS.map(() => 0), sum: 0, total: 0 }))
  return {
    observe(seconds, ...values) {
      const cell = series.at(...values)
      let bucket = 0
      while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket += 1
      if (bucket < BUCKETS.length) cell.counts[bucket] = (cell.counts[bucket] as number) + 1
      cell.sum += seconds
      cell.total += 1
    },
    text() {
      const lines = headOf(name, help, 'histogram')
      series.each((at, { counts, sum, total }) => {
        let running = 0
        counts.forEach((count, index) => {
          running += count
          lines.push(`${name}_bucket{${at},le="${BUCKETS[index] as number}"} ${running}`)
        })
        lines.push(`${name}_bucket{${at},le="+Inf"} ${total}`, `${name}_sum{${at}} ${sum}`, `${name}_count{${at}} ${total}`)
      })
      return lines.join('\n')
    },
  }
}

export function headOf(name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): string[] {
  return [`# HELP ${name} ${help.replace(/[\\\n]/g, (character) => (character === '\n' ? '\\n' : '\\\\'))}`, `# TYPE ${name} ${type}`]
}

export function numberText(value: number): string {
  return value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)
}
