import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { bareProblem, DURATION_FORM } from '../../time/duration.ts'
import { DECIMAL_FORM, textOf, type Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { ALGORITHMS, ALIGNMENTS } from './grammar.ts'
import { RATE_FORM, readBucket } from '../document/bucket.ts'

export type AlgorithmWord = (typeof ALGORITHMS)[number]

interface WindowNumbers {
  readonly limit: string
  readonly window: string
  readonly align?: (typeof ALIGNMENTS)[number]
  readonly ramp?: string
}

interface Form {
  readonly fields: readonly string[]
  read(fields: Value): AnyLimit | undefined
  readonly warning?: (limit: AnyLimit) => string
}

const FORMS: Readonly<Record<AlgorithmWord, Form>> = {
  'token-bucket': { fields: ['rate', 'burst'], read: readTokenBucket },
  'fixed-window': {
    fields: ['limit', 'window', 'align', 'ramp'],
    read: (fields) => readWindow(fields, fixedWindow),
    warning: ({ capacity }) =>
      `a fixed window may admit ${2 * capacity} around its end, twice its limit; sliding-window-counter or token-bucket does not`,
  },
  'sliding-window-counter': { fields: ['limit', 'window'], read: (fields) => readWindow(fields, slidingWindowCounter) },
  'sliding-window-log': { fields: ['limit', 'window'], read: (fields) => readWindow(fields, slidingWindowLog) },
}

const LIMIT_FIELDS: readonly string[] = [...new Set(Object.values(FORMS).flatMap(({ fields }) => fields))]

export function readAlgorithm(fields: Value, fallback: AlgorithmWord): AlgorithmWord | undefined {
  const value = fields.get('algorithm')
  return value === undefined ? fallback : value.choice(ALGORITHMS)
}

export function hasLimit(fields: Value): boolean {
  return LIMIT_FIELDS.some((name) => fields.get(name) !== undefined)
}

export function readLimit(fields: Value, algorithm: AlgorithmWord): AnyLimit | undefined {
  const form = FORMS[algorithm]
  const allowed = form.fields.join(', ')
  for (const name of LIMIT_FIELDS)
    if (!form.fields.includes(name)) fields.get(name)?.refuse(` is not a field of ${algorithm}: expected ${allowed}`, { allowed })
  const limit = form.read(fields)
  if (limit !== undefined && form.warning !== undefined)
    fields.with(fields.get('algorithm')?.node ?? fields.node).warn(`: ${form.warning(limit)}`)
  return limit
}

function readTokenBucket(fields: Value): AnyLimit | undefined {
  const [rate, burst] = [fields.require('rate', RATE_FORM), fields.require('burst', DECIMAL_FORM)]
  const burstText = burst?.decimal()
  if (rate === undefined || burst === undefined) return undefined
  // A wrong burst is already reported; the rate is still checked.
  const limit = readBucket(textOf(rate.node) ?? '', burstText ?? '0.000001', { rate, burst })
  return burstText === undefined ? undefined : limit
}

const AT_RAMP: ReadonlySet<string> = new Set(['INVALID_OPTIONS', 'INVALID_DURATION'])

/** Also reports what the constructor refuses although each number is well-formed, such as a ramp that does not fit the rest. */
function readWindow(fields: Value, make: (numbers: WindowNumbers) => AnyLimit): AnyLimit | undefined {
  for (const name of ['window', 'ramp']) warnOfBare(fields.get(name))
  const limitValue = fields.require('limit', DECIMAL_FORM)
  const window = fields.require('window', DURATION_FORM)?.duration()
  const [limit, ramp] = [limitValue?.decimal(), fields.get('ramp')?.duration()]
  const align = fields.get('align')?.choice(ALIGNMENTS)
  if (limitValue === undefined || limit === undefined || window === undefined) return undefined
  const numbers = { limit, window: `${window}us`, ...defined({ align, ramp: ramp === undefined ? undefined : `${ramp}us` }) }
  const made = attempt(() => make(numbers))
  if (!(made instanceof LimiterError)) return made
  return ((AT_RAMP.has(made.code) ? fields.get('ramp') : undefined) ?? limitValue).refuse(`: ${made.message}`)
}

/** Warns of a bare number: it means milliseconds, which few authors intend. */
function warnOfBare(value: Value | undefined): void {
  if (value?.node.kind !== 'scalar' || value.node.type !== 'number') return
  const problem = bareProblem(Number(value.node.text))
  if (problem !== undefined) value.warn(`: ${problem}; it is taken for milliseconds`)
}
