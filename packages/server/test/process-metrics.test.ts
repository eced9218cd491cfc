import { prometheusMetrics } from 'sluice/observe'
import { expect, it } from 'vitest'
import { processMetrics } from '../src/http/process-metrics.ts'
import { sumMetrics } from '../src/workers/sum-metrics.ts'

const scrape = (metrics = prometheusMetrics({ read: processMetrics() })): Map<string, number> =>
  new Map(
    [...metrics.text().matchAll(/^((?:process|nodejs)_\w+)(?:\{.*\})? (\S+)$/gm)].map(([, name = '', value]) => [name, Number(value)]),
  )

it('O6: a process reports its time, memory, files and the lag of its event loop', async () => {
  const metrics = prometheusMetrics({ read: processMetrics() })
  const first = scrape(metrics)
  const value = (name: string): number => first.get(name) ?? Number.NaN
  expect(value('process_cpu_seconds_total')).toBeCloseTo(
    value('process_cpu_user_seconds_total') + value('process_cpu_system_seconds_total'),
    1,
  )
  expect(Math.abs(value('process_start_time_seconds') - (Date.now() / 1_000 - process.uptime()))).toBeLessThan(60)
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(value('nodejs_heap_size_used_bytes'))
  expect(value('nodejs_heap_size_total_bytes')).toBeGreaterThan(value('nodejs_heap_size_used_bytes') / 2)
  if (process.platform === 'linux') expect(value('process_open_fds')).toBeGreaterThan(2)
  expect(first.get('nodejs_version_info')).toBe(1)
  // Nothing was measured yet, so nothing is reported.
  expect(first.has('nodejs_eventloop_lag_max_seconds')).toBe(false)

  await new Promise((resolve) => setTimeout(resolve, 30))
  // It begins after the pause, which may be long on a busy machine.
  const until = performance.now() + 300
  while (performance.now() < until);
  await new Promise((resolve) => setTimeout(resolve, 30))
  const busy = scrape(metrics)
  // The event loop was blocked for more than 200 ms. The pause between two measurements does not count as lag.
  expect(busy.get('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(0.2)
  expect(busy.get('nodejs_eventloop_lag_p50_seconds')).toBeLessThan(busy.get('nodejs_eventloop_lag_max_seconds') as number)
  expect(busy.get('process_cpu_seconds_total')).toBeGreaterThan(value('process_cpu_seconds_total'))
})

it('O6: time and memory of several processes are added, their start is the earliest, their lag the worst', () => {
  const of = (name: string, type: string, value: number): string => `# HELP ${name} It.\n# TYPE ${name} ${type}\n${name} ${value}\n`
  const text = (value: number): string =>
    of('process_cpu_seconds_total', 'counter', value) +
    of('process_resident_memory_bytes', 'gauge', value) +
    of('process_open_fds', 'gauge', value) +
    of('process_start_time_seconds', 'gauge', value) +
    of('nodejs_eventloop_lag_max_seconds', 'gauge', value)
  const summed = sumMetrics([text(5), text(2), text(3)])
  expect([...summed.matchAll(/^\w+ (\d+)$/gm)].map(([, value]) => Number(value))).toEqual([10, 10, 10, 2, 5])
})
