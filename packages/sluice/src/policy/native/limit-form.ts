import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { concurrency } from '../../algorithms/concurrency.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { DURATION_FORM } from '../../time/duration.ts'
import { MICROS_PER_MS } from '../../time/micros.ts'
import { DECIMAL_FORM, textOf, type Value, warnOfBare } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { ALGORITHMS, ALIGNMENTS } from './grammar.ts'

const RATE_FORM = 'tokens per duration, such as 10/s, 100/min or 10/30s (units: us, ms, s, min or m, h, d, w)'

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
  concurrency: { fields: ['limit', 'hold'], read: readConcurrency },
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

/** @param burst a validated decimal text */
export function readBucket(rate: Rate, burst: string, rateAt: Value, burstAt: Value): AnyLimit | undefined {
  const limit = attempt(() => tokenBucket({ rate, burst }))
  if (!(limit instanceof LimiterError)) return limit
  return limit.code === 'INVALID_RATE' ? rateAt.wrong(RATE_FORM) : burstAt.refuse(`: ${limit.message}`)
}

function readTokenBucket(fields: Value): AnyLimit | undefined {
  const [rate, burst] = [fields.require('rate', RATE_FORM), fields.require('burst', DECIMAL_FORM)]
  const burstText = burst?.decimal()
  if (rate === undefined || burst === undefined) return undefined
  // The rate is checked even if the burst is wrong.
  const limit = readBucket(textOf(rate.node) ?? '', burstText ?? '0.000001', rate, burst)
  return burstText === undefined ? undefined : limit
}

const AT_RAMP: ReadonlySet<string> = new Set(['INVALID_OPTIONS', 'INVALID_DURATION'])

/** The constructor refuses some numbers only together, such as a long ramp in a short window. */
function readWindow(fields: Value, make: (numbers: WindowNumbers) => AnyLimit): AnyLimit | undefined {
  for (const name of ['window', 'ramp']) warnOfBare(fields.get(name))
  const limitValue = fields.require('limit', DECIMAL_FORM)
  const window = fields.require('window', DURATION_FORM)?.duration()
  const [limit, ramp] = [limitValue?.decimal(), fields.get('ramp')?.duration()]
  const align = fields.get('align')?.choice(ALIGNMENTS)
  if (limitValue === undefined || limit === undefined || window === undefined) return undefined
  const rampText = ramp === undefined ? undefined : `${ramp}us`
  const numbers = { limit, window: `${window}us`, ...defined({ align, ramp: rampText }) }
  const made = attempt(() => make(numbers))
  if (!(made instanceof LimiterError)) return made
  return ((AT_RAMP.has(made.code) ? fields.get('ramp') : undefined) ?? limitValue).refuse(`: ${made.message}`)
}

function readConcurrency(fields: Value): AnyLimit | undefined {
  const holdValue = fields.require('hold', DURATION_FORM)
  warnOfBare(holdValue)
  const limitValue = fields.require('limit', DECIMAL_FORM)
  const [limit, hold] = [limitValue?.decimal(), holdValue?.duration()]
  if (limitValue === undefined || holdValue === undefined || limit === undefined || hold === undefined) return undefined
  const made = attempt(() => concurrency({ limit, holdMs: hold / MICROS_PER_MS }))
  if (!(made instanceof LimiterError)) return made
  return (made.code === 'INVALID_LIMIT' ? limitValue : holdValue).refuse(`: ${made.message}`)
}
