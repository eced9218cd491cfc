import { parseArgs } from 'node:util'
import type { Depth } from './result/suite-result.ts'
import { SUITES } from './suites/index.ts'
import type { Suite } from './suites/suite.ts'

/** The usage text. */
export const USAGE: string = [
  'usage: npm run bench -- [SUITE ...] [--quick] [--only PART,...] [--seconds N] [--results FOLDER] [--write] [--plan]',
  '       npm run bench -- compare FOLDER FOLDER',
  '',
  'suites (default: all):',
  ...SUITES.flatMap(({ name, summary, parts }) => [
    `  ${name.padEnd(12)}${summary}`,
    `${' '.repeat(14)}parts: ${parts.map((part) => part.name).join(', ')}`,
  ]),
  '',
  '  --quick           less time for each comparison, and fewer loads: 15 minutes for all suites on two cores',
  '  --only PARTS      some parts of one suite, by commas',
  '  --seconds N       seconds of one comparison (default: those of the suite)',
  '  --plan            prints the seconds that are planned for it, and measures nothing',
  '  --results FOLDER  where SUITE.json, report.html and report.md are written (default: bench/results/local)',
  '  --write           writes them to bench/results, and the tables into the documents that show them',
  '',
  'compare says whether two runs rank the ways alike, where they are further apart than their spreads.',
  'Exit codes: 0 measured, 1 a part failed, 2 an engine is missing, 3 wrong arguments; of compare: 0 alike, 1 not, 3 nothing to compare.',
  'Private servers are started and stopped.',
].join('\n')

/** A requested run. */
export interface Order {
  readonly suites: readonly Suite[]
  /** Names of the parts to measure; default all. */
  readonly parts?: readonly string[]
  readonly depth: Depth
  /** Replaces the seconds of the suites. */
  readonly seconds?: number
  readonly results?: string
  readonly write: boolean
  /** Whether only the plan is wanted. */
  readonly plan: boolean
}

/** Two folders of results to compare. */
export interface Comparison {
  readonly compare: readonly [string, string]
}

/** Parses a command line. Returns the order, or the mistake as a text. */
export function orderOf(args: readonly string[]): Order | Comparison | string {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { seconds: text, only: text, results: text, quick: flag, write: flag, plan: flag } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    if (positionals[0] === 'compare') {
      const flags = Object.entries(values).flatMap(([name, value]) => (value === undefined || value === false ? [] : [`--${name}`]))
      return flags.length === 0 ? comparisonOf(positionals.slice(1)) : `compare takes two folders of results, not ${flags.join(' and ')}`
    }
    const unknown = positionals.find((name) => !SUITES.some((suite) => suite.name === name))
    if (unknown !== undefined) return `no suite is called ${unknown}`
    const suites = positionals.length === 0 ? SUITES : SUITES.filter(({ name }) => positionals.includes(name))
    const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
    if (seconds !== undefined && !(seconds > 0 && seconds <= 3_600))
      return `--seconds is ${values.seconds}, expected above 0 and at most 3600`
    const parts = values.only?.split(',')
    const mistake = parts === undefined ? undefined : mistakeIn(parts, suites)
    if (mistake !== undefined) return mistake
    if (values.write && values.results !== undefined) return '--results: --write has a folder of its own'
    return {
      suites,
      depth: values.quick ? 'quick' : 'full',
      write: values.write,
      plan: values.plan,
      ...(seconds === undefined ? {} : { seconds }),
      ...(parts === undefined ? {} : { parts }),
      ...(values.results === undefined ? {} : { results: values.results }),
    }
  } catch (error) {
    return (error as Error).message
  }
}

function mistakeIn(parts: readonly string[], suites: readonly Suite[]): string | undefined {
  const [suite, ...more] = suites
  if (suite === undefined || more.length > 0) return '--only: name one suite'
  const known = suite.parts.map(({ name }) => name)
  const unknown = parts.find((part) => !known.includes(part))
  return unknown === undefined ? undefined : `--only: ${suite.name} has no part ${JSON.stringify(unknown)}; it has ${known.join(', ')}`
}

function comparisonOf(folders: readonly string[]): Comparison | string {
  const [one, other, ...more] = folders
  if (one === undefined || other === undefined || more.length > 0) return `compare takes two folders of results, not ${folders.length}`
  return { compare: [one, other] }
}
