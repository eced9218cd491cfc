import { createSeries } from './series.ts'

export interface Metric {
  /** In the text format of Prometheus, without a final line end. */
  text(): string
}

export interface Value {
  value: number
}

export interface Values extends Metric {
  /** The caller may keep and reuse the result. */
  at(...labels: readonly string[]): Value
}

export interface Observations {
  observe(seconds: number): void
}

export interface Histogram extends Metric {
  /** The caller may keep and reuse the result. */
  at(...labels: readonly string[]): Observations
}

/** Seconds: decisions take microseconds in memory, and up to a deadline on a network. */
const BUCKETS = [0.000_01, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

export function counter(name: string, help: string, labels: readonly string[]): Values {
  return singleValues(name, help, labels, 'counter')
}

export function gauge(name: string, help: string, labels: readonly string[]): Values {
  return singleValues(name, help, labels, 'gauge')
}

function singleValues(name: string, help: string, labels: readonly string[], type: 'counter' | 'gauge'): Values {
  const series = createSeries(labels, () => ({ value: 0 }))
  return {
    at: series.at,
    text() {
      const lines = headOf(name, help, type)
      series.each((at, { value }) => lines.push(`${name}{${at}} ${numberText(value)}`))
      return lines.join('\n')
    },
  }
}

export function histogram(name: string, help: string, labels: readonly string[]): Histogram {
  const series = createSeries(labels, () => new Cell())
  return {
    at: series.at,
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

class Cell implements Observations {
  readonly counts: number[] = BUCKETS.map(() => 0)
  sum = 0
  total = 0

  observe(seconds: number): void {
    let bucket = 0
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket += 1
    if (bucket < BUCKETS.length) this.counts[bucket] = (this.counts[bucket] as number) + 1
    this.sum += seconds
    this.total += 1
  }
}

export function headOf(name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): string[] {
  const text = help.replace(/[\\\n]/g, (character) => (character === '\n' ? '\\n' : '\\\\'))
  return [`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`]
}

export function numberText(value: number): string {
  return value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value)
}
