import { ceiling } from '../seed-000/ceiling.ts'
import { comparison } from '../seed-000/comparison.ts'
import { drift } from '../seed-000/drift.ts'
import { latency } from '../seed-000/latency.ts'
import { logs } from '../seed-000/logs.ts'
import type { Suite } from './suite.ts'

/** The figures of the article "Rate Limiting at Scale", measured, with the algorithms of Sluice as contestants. */
export const seed000: Suite = {
  name: 'seed-000',
  title: 'algorithms and stores at scale',
  summary: 'memory, latency, drift and scale of four algorithms, and of stores (Rate Limiting at Scale)',
  document: 'Rate Limiting at Scale',
  parts: [comparison, drift, latency, logs, ceiling],
  seconds: { quick: 0.22, full: 1 },
}
