import { figure, table } from './render/columns.ts'
import type { Depth, SuiteResults } from './result/suite-result.ts'
import { isChosen } from './run-suite.ts'
import type { Suite } from './suites/suite.ts'

/**
 * Seconds that each part may take on two cores, in a quick run and in a full one. A run says which parts took longer. The sums have bounds:
 * 8 minutes for a suite, 15 minutes for all suites in a quick run, 51 minutes for all suites in a full one.
 */
const SECONDS: Readonly<Record<string, Readonly<Record<string, readonly [quick: number, full: number]>>>> = {
  'seed-000': {
    comparison: [86, 195],
    drift: [15, 42],
    latency: [14, 66],
    logs: [12, 92],
    ceiling: [22, 74],
  },
  'seed-002': {
    'in-process': [12, 32],
    boundary: [1, 1],
    'redis-lua': [24, 82],
  },
  'seed-003': {
    contention: [50, 215],
    'over-grant': [3, 27],
    'bottom-line': [1, 1],
    clocks: [14, 45],
    lessons: [6, 12],
  },
  'seed-004': {
    hot: [22, 74],
    single: [12, 23],
    sessions: [34, 40],
    example: [9, 9],
    yugabyte: [1, 1],
  },
  memory: {
    hot: [4, 8],
    peers: [27, 80],
    'peers-held': [20, 160],
    keys: [16, 64],
    algorithms: [12, 28],
    rules: [3, 7],
    size: [1, 1],
  },
  redis: {
    hot: [20, 46],
    different: [10, 25],
    'one-caller': [8, 17],
    'redis-time': [4, 4],
    denied: [14, 16],
    memory: [22, 60],
    rules: [8, 15],
    holds: [12, 26],
    regions: [9, 18],
    peers: [36, 225],
    cluster: [8, 17],
  },
  postgres: {
    hot: [22, 50],
    'keys-thousand': [12, 30],
    'keys-million': [22, 160],
    denied: [12, 27],
    mixed: [16, 30],
    size: [6, 64],
    grants: [6, 15],
    holds: [8, 18],
    regions: [8, 17],
  },
  http: {
    node: [10, 16],
    express: [22, 54],
    fastify: [10, 19],
    hono: [10, 18],
    redis: [18, 118],
  },
  service: {
    decisions: [15, 52],
    proxies: [18, 52],
    workers: [12, 29],
  },
  scale: {
    processes: [28, 130],
    shards: [18, 28],
    costs: [9, 19],
  },
  open: {
    redis: [20, 68],
    'redis-hot': [14, 46],
    postgres: [18, 56],
    'postgres-hot': [12, 38],
  },
  cold: {
    redis: [22, 26],
    postgres: [22, 32],
  },
}

/** A run to plan: its suites, its depth, and the names of its parts; default all parts of the suites. */
interface Planned {
  readonly suites: readonly Suite[]
  readonly parts?: readonly string[] | undefined
  readonly depth: Depth
}

/** The planned seconds of a part. @throws Error if nobody planned it */
export function plannedSeconds(suite: string, part: string, depth: Depth): number {
  const seconds = SECONDS[suite]?.[part]
  if (seconds === undefined) throw new Error(`${suite} ${part} is not in the plan`)
  return seconds[depth === 'quick' ? 0 : 1]
}

/** The planned seconds of a suite, or of some of its parts. */
export function plannedOf({ name, parts: all }: Suite, { parts, depth }: Omit<Planned, 'suites'>): number {
  return all.filter((part) => isChosen(part, { parts, depth })).reduce((sum, part) => sum + plannedSeconds(name, part.name, depth), 0)
}

/** Suites and parts with their seconds, and the sum. */
export function planText({ suites, parts, depth }: Planned): string {
  const rows = suites.map((suite) => {
    const shown = suite.parts.filter((part) => isChosen(part, { parts, depth }))
    const each = shown.map(({ name }) => `${name} ${plannedSeconds(suite.name, name, depth)}`)
    return [suite.name, figure(plannedOf(suite, { parts, depth })), each.join(', ')]
  })
  const sum = suites.reduce((all, suite) => all + plannedOf(suite, { parts, depth }), 0)
  return `${table(['suite', 'seconds', 'parts'], rows)}\n\n${figure(sum)} s in all (${figure(sum / 60, 1)} minutes) on two cores`
}

/** The parts that took longer than planned, in words. */
export function overdue({ suite, parts }: SuiteResults): string[] {
  return parts.flatMap(({ name, took, depth }) => {
    const planned = plannedSeconds(suite, name, depth)
    return took > planned ? [`${suite} ${name} took ${figure(took)} s, planned were ${figure(planned)} s`] : []
  })
}
