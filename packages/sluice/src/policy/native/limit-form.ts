import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { bareProblem, DURATION_FORM } from '../../time/duration.ts'
import {
  DECIMAL_FORM,
  type Fields,
  RATE_FORM,
  readBucket,
  readChoice,
  readDecimal,
  readDuration,
  requiredField,
} from '../document/fields.ts'
import { fieldOf, refuse, textOf, type Value, warn } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { ALGORITHMS, ALIGNMENTS } from './grammar.ts'

export type AlgorithmWord = (typeof ALGORITHMS)[number]

/** The fields of a window limit, as read. */
interface WindowNumbers {
  readonly limit: string
  readonly window: string
  readonly align?: (typeof ALIGNMENTS)[number]
  readonly ramp?: string
}

/** The fields of one algorithm's limits, and their reader. */
interface Form {
  readonly fields: readonly string[]
  read(fields: Fields): AnyLimit | undefined
  /** A warning about such limits for the policy's reader. */
  readonly warning?: (limit: AnyLimit) => string
}

const windowForm = (make: (numbers: WindowNumbers) => AnyLimit): Form => ({
  fields: ['limit', 'window'],
  read: (fields) => readWindow(fields, make),
})

const FORMS: Readonly<Record<AlgorithmWord, Form>> = {
  'token-bucket': { fields: ['rate', 'burst'], read: readTokenBucket },
  'fixed-window': {
    fields: ['limit', 'window', 'align', 'ramp'],
    read: (fields) => readWindow(fields, fixedWindow),
    warning: ({ capacity }) =>
      `a fixed window may admit ${2 * capacity} around its end, twice its limit; sliding-window-counter or token-bucket does not`,
  },
  'sliding-window-counter': windowForm(slidingWindowCounter),
  'sliding-window-log': windowForm(slidingWindowLog),
}

const LIMIT_FIELDS: readonly string[] = [...new Set(Object.values(FORMS).flatMap(({ fields }) => fields))]

/** The algorithm that a map names; the fallback if it names none. A wrong one is reported and gives undefined. */
export function readAlgorithm(fields: Fields, fallback: AlgorithmWord): AlgorithmWord | undefined {
  return fieldOf(fields, 'algorithm') === undefined ? fallback : readChoice(fieldOf(fields, 'algorithm'), ALGORITHMS)
}

/** Whether a map has any field of a limit. */
export function hasLimit(fields: Fields): boolean {
  return LIMIT_FIELDS.some((name) => fields.node.fields.has(name))
}

/** Reads the limit of a map from the fields of this algorithm. A wrong one is reported and gives undefined. */
export function readLimit(fields: Fields, algorithm: AlgorithmWord): AnyLimit | undefined {
  const form = FORMS[algorithm]
  const allowed = form.fields.join(', ')
  for (const name of LIMIT_FIELDS) {
    const foreign = form.fields.includes(name) ? undefined : fieldOf(fields, name)
    if (foreign !== undefined) refuse(foreign, ` is no field of ${algorithm}: expected ${allowed}`, { allowed })
  }
  const limit = form.read(fields)
  if (limit !== undefined && form.warning !== undefined)
    warn({ ...fields, node: fieldOf(fields, 'algorithm')?.node ?? fields.node }, `: ${form.warning(limit)}`)
  return limit
}

function readTokenBucket(fields: Fields): AnyLimit | undefined {
  const [rate, burst] = [requiredField(fields, 'rate', RATE_FORM), requiredField(fields, 'burst', DECIMAL_FORM)]
  const burstText = readDecimal(burst)
  if (rate === undefined || burst === undefined) return undefined
  // A wrong burst is already reported; the rate is still checked.
  const limit = readBucket(textOf(rate.node) ?? '', burstText ?? '0.000001', { rate, burst })
  return burstText === undefined ? undefined : limit
}

const AT_RAMP: ReadonlySet<string> = new Set(['INVALID_OPTIONS', 'INVALID_DURATION'])

/**
 * Reads a window limit. It also reports what the constructor refuses although each number is well-formed: too large a limit, or a ramp
 * that does not fit the rest.
 */
function readWindow(fields: Fields, make: (numbers: WindowNumbers) => AnyLimit): AnyLimit | undefined {
  for (const name of ['window', 'ramp']) warnOfBare(fieldOf(fields, name))
  const limitValue = requiredField(fields, 'limit', DECIMAL_FORM)
  const window = readDuration(requiredField(fields, 'window', DURATION_FORM))
  const [limit, ramp] = [readDecimal(limitValue), readDuration(fieldOf(fields, 'ramp'))]
  const align = readChoice(fieldOf(fields, 'align'), ALIGNMENTS)
  if (limitValue === undefined || limit === undefined || window === undefined) return undefined
  const numbers = { limit, window: `${window}us`, ...defined({ align, ramp: ramp === undefined ? undefined : `${ramp}us` }) }
  const made = attempt(() => make(numbers))
  if (!(made instanceof LimiterError)) return made
  return refuse((AT_RAMP.has(made.code) ? fieldOf(fields, 'ramp') : undefined) ?? limitValue, `: ${made.message}`)
}

/** Warns of a bare number: it means milliseconds, which few authors intend. */
function warnOfBare(value: Value | undefined): void {
  if (value?.node.kind !== 'scalar' || value.node.type !== 'number') return
  const problem = bareProblem(Number(value.node.text))
  if (problem !== undefined) warn(value, `: ${problem}; it is taken for milliseconds`)
}
