import { parseArgs } from 'node:util'
import { cold } from './suites/cold.ts'
import { embedded } from './suites/embedded.ts'
import { open } from './suites/open.ts'
import { redis } from './suites/redis.ts'
import { seed003 } from './suites/seed-003.ts'
import { seed004 } from './suites/seed-004.ts'
import type { Suite, SuiteOptions } from './suites/suite.ts'

const SUITES: readonly Suite[] = [embedded, redis, open, cold, seed003, seed004]

/** What a command line may say. */
export const USAGE: string = [
  'usage: npm run bench -- SUITE [--seconds N] [--json FILE] [--only PART,...] [--gates] [--write]',
  '',
  'suites:',
  ...SUITES.flatMap(({ name, summary, parts }) => [
    `  ${name.padEnd(12)}${summary}`,
    ...(parts === undefined ? [] : [`${' '.repeat(14)}parts: ${parts.join(', ')}`]),
  ]),
  '',
  '  --seconds N   seconds that one contestant is under load in the first part, or that one comparison takes (default: the suite’s);',
  '                the rest shrinks with it',
  '  --json FILE   also write the results there',
  '  --only PARTS  some parts of a suite that has parts, by commas',
  '  --gates       also time `npm test` and `npm run check`: minutes',
  '  --write       also put the tables into the documents that show them',
  '',
  'seed-003 uses the Redis that SLUICE_REDIS_URL names; without it, and for the other suites always, private servers are started and',
  'stopped. The suite embedded needs none.',
].join('\n')

/** A requested run. */
export interface Order extends Pick<SuiteOptions, 'seconds' | 'parts' | 'gates'> {
  readonly suite: Suite
  readonly json?: string
  readonly write: boolean
}

/** What a command line requests, or why it was not understood. */
export function orderOf(args: readonly string[]): Order | string {
  try {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { seconds: text, json: text, only: text, gates: flag, write: flag } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [name, ...rest] = positionals
    if (name === undefined) return 'no suite was named'
    const suite = SUITES.find((candidate) => candidate.name === name)
    if (suite === undefined) return `no suite is called ${name}`
    if (rest.length > 0) return `one suite at a time, not also ${rest.join(', ')}`
    const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
    if (seconds !== undefined && !(seconds > 0 && seconds <= 3_600))
      return `--seconds is ${values.seconds}, expected above 0 and at most 3600`
    const { parts: known } = suite
    if (known === undefined && values.only !== undefined) return `--only: ${name} has no parts`
    if (suite.gates !== true && values.gates) return `--gates: not with ${name}`
    const parts = values.only?.split(',')
    const unknown = parts?.find((part) => !known?.includes(part))
    if (unknown !== undefined) return `--only: ${name} has no part ${JSON.stringify(unknown)}; it has ${known?.join(', ')}`
    return {
      suite,
      write: values.write,
      ...(seconds === undefined ? {} : { seconds }),
      ...(parts === undefined ? {} : { parts }),
      ...(values.gates ? { gates: true } : {}),
      ...(values.json === undefined ? {} : { json: values.json }),
    }
  } catch (error) {
    return (error as Error).message
  }
}
