import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ReadMetric } from 'sluice/observe'
import { openFilesLimit } from './connection-bound.ts'
import { counter, gauge } from './service-metrics.ts'

const RESOLUTION_MS = 10
/** Converts to seconds. */
const [PER_MICRO, PER_NANO, PER_MS] = [1e-6, 1e-9, 1e-3]

/** Under the names that Prometheus's clients use. */
export function processMetrics(): readonly ReadMetric[] {
  const maxFiles = openFilesLimit()
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.')
  const cpu = (part: (usage: NodeJS.CpuUsage) => number) => () => one(part(process.cpuUsage()) * PER_MICRO)
  const memory = (part: keyof NodeJS.MemoryUsage) => () => one(process.memoryUsage()[part])
  return [
    counter(
      'process_cpu_user_seconds_total',
      'User CPU time spent, in seconds.',
      cpu(({ user }) => user),
    ),
    counter(
      'process_cpu_system_seconds_total',
      'System CPU time spent, in seconds.',
      cpu(({ system }) => system),
    ),
    counter(
      'process_cpu_seconds_total',
      'User and system CPU time spent, in seconds.',
      cpu(({ user, system }) => user + system),
    ),
    gauge('process_start_time_seconds', 'Start of the process, in seconds since 1970.', () => one(performance.timeOrigin * PER_MS)),
    gauge('process_resident_memory_bytes', 'Resident memory, in bytes.', () => one(process.memoryUsage.rss())),
    gauge('process_open_fds', 'Open file descriptors; absent where the system does not list them.', () => one(openFiles())),
    gauge('process_max_fds', 'Most open file descriptors that the system allows.', () => one(maxFiles === Infinity ? undefined : maxFiles)),
    gauge('nodejs_heap_size_total_bytes', 'Heap of JavaScript that is reserved, in bytes.', memory('heapTotal')),
    gauge('nodejs_heap_size_used_bytes', 'Heap of JavaScript that is used, in bytes.', memory('heapUsed')),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap, in bytes.', memory('external')),
    gauge('nodejs_version_info', 'The version of Node.js.', () => [
      { labels: { version: process.version, major, minor, patch }, value: 1 },
    ]),
    ...lagMetrics(),
  ]
}

/** Since the last scrape; with several workers, that of the worst. */
function lagMetrics(): ReadMetric[] {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  // The histogram contains the whole time between two timers.
  const lag = (nanos: number): number => Math.max(0, nanos * PER_NANO - RESOLUTION_MS * PER_MS)
  const read = (value: () => number) => () => one(delay.count === 0 ? undefined : lag(value()))
  return [
    gauge(
      'nodejs_eventloop_lag_mean_seconds',
      'Mean lag of the event loop since the last scrape.',
      read(() => delay.mean),
    ),
    gauge(
      'nodejs_eventloop_lag_p50_seconds',
      'Median lag of the event loop since the last scrape.',
      read(() => delay.percentile(50)),
    ),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      '99th percentile of the lag of the event loop since the last scrape.',
      read(() => delay.percentile(99)),
    ),
    gauge('nodejs_eventloop_lag_max_seconds', 'Largest lag of the event loop since the last scrape.', () => {
      const most = read(() => delay.max)()
      delay.reset()
      return most
    }),
  ]
}

function openFiles(): number | undefined {
  try {
    // One entry is the descriptor of this listing.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return undefined
  }
}

function one(value: number | undefined) {
  return value === undefined ? [] : [{ value }]
}
