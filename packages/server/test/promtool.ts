import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The text that a service served at /metrics, and the minute in the test's time at which this counts as scraped. */
export interface Scrape {
  readonly minute: number
  readonly text: string
}

/** A series of a test: undefined where it did not exist. */
type Values = (number | undefined)[]

/** Runs a program until it ends. Returns its exit code, a line break, and what it wrote. */
export function runProgram(program: string, args: readonly string[], cwd?: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', ...(cwd === undefined ? {} : { cwd }) })
  return `${status}\n${stdout}${stderr}`
}

/**
 * Tests, by `promtool test rules`, that exactly these alerts fire at the last scrape. The scrapes are real, but the time between them is
 * longer than it was. In between, counters grow evenly, and gauges have the value of the next scrape.
 * @param among regular expression of the alerts that are checked
 * @returns what promtool wrote; it begins with `0` if exactly these alerts fired
 */
export function firing(
  promtool: string,
  rules: string,
  scrapes: readonly Scrape[],
  alerts: readonly string[],
  among = '.*',
  step = 1,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-promtool-'))
  try {
    const last = scrapes.at(-1)?.minute ?? 0
    const input = [...seriesOf(scrapes, step)].map(([series, values]) => ({
      series,
      values: values.map((value) => (value === undefined ? '_' : String(value))).join(' '),
    }))
    const samples = alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }))
    const expr = `group by (alertname) (ALERTS{alertstate="firing",alertname=~"${among}"})`
    const test = { interval: `${step}m`, input_series: input, promql_expr_test: [{ expr, eval_time: `${last}m`, exp_samples: samples }] }
    const file = join(folder, 'test.json')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: `${step}m`, tests: [test] }))
    return runProgram(promtool, ['test', 'rules', file])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function seriesOf(scrapes: readonly Scrape[], step: number): Map<string, Values> {
  const found = new Map<string, Values>()
  const steps = Math.floor((scrapes.at(-1)?.minute ?? 0) / step) + 1
  for (const [index, scrape] of scrapes.entries()) {
    const before = scrapes[index - 1]
    const earlier = before === undefined ? new Map<string, Sample>() : samplesOf(before.text)
    for (const [series, { value, grows }] of samplesOf(scrape.text)) {
      const values = found.get(series) ?? Array.from<undefined>({ length: steps })
      found.set(series, values)
      const from = before === undefined ? scrape.minute : before.minute + step
      const start = earlier.get(series)?.value ?? 0
      for (let minute = from; minute <= scrape.minute; minute += step) {
        const share = before === undefined ? 1 : (minute - before.minute) / (scrape.minute - before.minute)
        values[minute / step] = grows ? start + (value - start) * share : value
      }
    }
  }
  return found
}

interface Sample {
  readonly value: number
  readonly grows: boolean
}

/**
 * The series of the service's own metrics, with the labels that Prometheus adds. Infinite values are left out, because no rule reads them.
 */
function samplesOf(text: string): Map<string, Sample> {
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  const samples = new Map<string, Sample>()
  for (const [, name = '', labels = '', number] of text.matchAll(/^(sluice_\w+)(?:\{(.*)\})? (\S+)$/gm)) {
    const value = Number(number)
    const grows = (types.get(name) ?? 'histogram') !== 'gauge'
    if (Number.isFinite(value)) samples.set(`${name}{job="sluice",instance="a"${labels === '' ? '' : `,${labels}`}}`, { value, grows })
  }
  return samples
}
