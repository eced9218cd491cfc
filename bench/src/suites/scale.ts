import { costs } from '../scale/costs.ts'
import { processes } from '../scale/processes.ts'
import { shards } from '../scale/shards.ts'
import type { Suite } from './suite.ts'

/** Measures how costs grow: with processes, nodes, keys, rules and limits. */
export const scale: Suite = {
  name: 'scale',
  title: 'how costs grow with processes, nodes, keys, rules and limits',
  summary: 'decisions a second with 1 to 8 processes and 1 to 3 cluster nodes; cost against keys, rules and limits',
  parts: [processes, shards, costs],
  seconds: { quick: 0.5, full: 2 },
}
