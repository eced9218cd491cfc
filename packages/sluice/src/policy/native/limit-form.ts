import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { fixedWindow } from '../../algorithms/fixed-window.ts'
import { slidingWindowCounter } from '../../algorithms/sliding-window-counter.ts'
import { slidingWindowLog } from '../../algorithms/sliding-window-log.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { readBucket, RATE_FORM } from '../document/bucket.ts'
import { DECIMAL_FORM, type Fields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import { ALGORITHMS, ALIGNMENTS } from './grammar.ts'
import type { PolicyNode } from '../document/node.ts'
import { DURATION_FORM, bareProblem } from '../../time/duration.ts'

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
  read(fields: Fields, issues: Issues): AnyLimit | undefined
  /** A warning about such limits for the policy's reader. */
  readonly warning?: (limit: AnyLimit) => string
}

const FORMS: Readonly<Record<AlgorithmWord, Form>> = {
  'token-bucket': { fields: ['rate', 'burst'], read: readTokenBucket },
  'fixed-window': windowForm(['limit', 'window', 'align', 'ramp'], fixedWindow, ({ capacity }) => {
    return `a fixed window may admit ${2 * capacity} around its end, twice its limit; sliding-window-counter or token-bucket does not`
  }),
  'sliding-window-counter': windowForm(['limit', 'window'], slidingWindowCounter),
  'sliding-window-log': windowForm(['limit', 'window'], slidingWindowLog),
}

const LIMIT_FIELDS: readonly string[] = [...new Set(Object.values(FORMS).flatMap(({ fields }) => fields))]

/** The algorithm that a map names; the fallback if it names none. A wrong one is reported and gives undefined. */
export function readAlgorithm(fields: Fields, fallback: AlgorithmWord): AlgorithmWord | undefined {
  return fields.node('algorithm') === undefined ? fallback : fields.choice('algorithm', ALGORITHMS)
}

/** Whether a map has any field of a limit. */
export function hasLimit(fields: Fields): boolean {
  return LIMIT_FIELDS.some((name) => fields.node(name) !== undefined)
}

/** Reads the limit of a map from the fields of this algorithm. A wrong one is reported and gives undefined. */
export function readLimit(fields: Fields, algorithm: AlgorithmWord, issues: Issues): AnyLimit | undefined {
  const form = FORMS[algorithm]
  for (const name of LIMIT_FIELDS) {
    const node = fields.node(name)
    if (node === undefined || form.fields.includes(name)) continue
    const path = fields.pathOf(name)
    issues.add(node.at, path, `${path} is no field of ${algorithm}: expected ${form.fields.join(', ')}`, {
      allowed: form.fields.join(', '),
    })
  }
  const limit = form.read(fields, issues)
  if (limit !== undefined && form.warning !== undefined)
    issues.warn(fields.node('algorithm')?.at ?? fields.at, `${fields.path}: ${form.warning(limit)}`)
  return limit
}

function readTokenBucket(fields: Fields, issues: Issues): AnyLimit | undefined {
  fields.require('rate', RATE_FORM)
  fields.require('burst', DECIMAL_FORM)
  const [rate, burst] = [fields.node('rate'), fields.node('burst')]
  const burstText = fields.decimal('burst')
  if (rate === undefined || burst === undefined) return undefined
  const text = rate.kind === 'scalar' && rate.type === 'text' ? rate.text : ''
  // A wrong burst is already reported; the rate is still checked.
  const at = { rate: { node: rate, path: fields.pathOf('rate') }, burst: { node: burst, path: fields.pathOf('burst') } }
  const limit = readBucket(text, burstText ?? '0.000001', at, issues)
  return burstText === undefined ? undefined : limit
}

function windowForm(fields: readonly string[], make: (numbers: WindowNumbers) => AnyLimit, warning?: Form['warning']): Form {
  return {
    fields,
    read(map, issues) {
      const numbers = readWindow(map, issues)
      return numbers === undefined ? undefined : made(() => make(numbers), map, issues)
    },
    ...(warning === undefined ? {} : { warning }),
  }
}

function readWindow(map: Fields, issues: Issues): WindowNumbers | undefined {
  for (const name of ['window', 'ramp']) warnOfBare(map, name, issues)
  map.require('limit', DECIMAL_FORM)
  map.require('window', DURATION_FORM)
  const [limit, window, ramp] = [map.decimal('limit'), map.duration('window'), map.duration('ramp')]
  const align = map.choice('align', ALIGNMENTS)
  if (limit === undefined || window === undefined) return undefined
  return {
    limit,
    window: `${window}us`,
    ...(align === undefined ? {} : { align }),
    ...(ramp === undefined ? {} : { ramp: `${ramp}us` }),
  }
}

/** Warns of a bare number: it means milliseconds, which few authors intend. */
function warnOfBare(map: Fields, name: string, issues: Issues): void {
  const node = map.node(name)
  const problem = node?.kind === 'scalar' && node.type === 'number' ? bareProblem(Number(node.text)) : undefined
  if (node !== undefined && problem !== undefined) issues.warn(node.at, `${map.pathOf(name)}: ${problem}; it is taken for milliseconds`)
}

const AT_RAMP: ReadonlySet<string> = new Set(['INVALID_OPTIONS', 'INVALID_DURATION'])

/**
 * Constructs the limit. It reports what the constructor refuses although each number is well-formed: too large a limit, or a ramp that
 * does not fit the rest.
 */
function made(make: () => AnyLimit, map: Fields, issues: Issues): AnyLimit | undefined {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof LimiterError)) throw error
    const name = map.node('ramp') !== undefined && AT_RAMP.has(error.code) ? 'ramp' : 'limit'
    issues.add((map.node(name) as PolicyNode).at, map.pathOf(name), `${map.pathOf(name)}: ${error.message}`)
    return undefined
  }
}
