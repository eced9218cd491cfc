import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import { toMillis } from '../../time/micros.ts'
import {
  DECIMAL_FORM,
  type Fields,
  openFields,
  readBucket,
  readChoice,
  readDecimal,
  readDuration,
  readFlag,
  readWhole,
  requiredField,
} from '../document/fields.ts'
import { fieldOf, type Value, warn } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { Cost, KeyPart, Match, OnStoreFailure, Rule } from '../model/rule.ts'
import { MAX_SAMPLED } from '../native/grammar.ts'

/** How requests use the buckets of a level. */
interface Use {
  /** Field names of this level only. */
  readonly extra?: readonly string[]
  /** The key, unless the level is shared. */
  readonly key: readonly KeyPart[]
  readonly match: Match
}

export interface Defaults {
  readonly cost: Cost
  readonly onStoreFailure: OnStoreFailure
}

const NAMES = ['capacity', 'burst', 'refill_rate', 'window', 'failure_policy', 'sample']

/**
 * Reads a level as a rule. `capacity` is the burst, `refill_rate` the tokens per `window` (default 1 s); a `shared` level has one bucket for
 * all identities. Undefined for an endpoint that only has a cost, and for a wrong limit, which is reported.
 */
export function readLevel(
  value: Value,
  name: string,
  { extra = [], key, match }: Use,
  { cost, onStoreFailure }: Defaults,
): Rule | undefined {
  const fields = openFields(value, { names: [...NAMES, ...extra] })
  if (fields === undefined) return undefined
  const shared = extra.includes('shared') && readFlag(fieldOf(fields, 'shared')) === true
  const window = readDuration(fieldOf(fields, 'window'))
  const windowMs = window === undefined ? undefined : toMillis(window)
  const isPriceOnly =
    ['capacity', 'refill_rate'].every((one) => fieldOf(fields, one) === undefined) && fieldOf(fields, 'cost') !== undefined
  const limit = isPriceOnly ? undefined : readLimit(fields, window === undefined ? '1s' : `${window}us`)
  if (limit !== undefined) warnOf(fields, limit, windowMs)
  const failure = readFailure(fieldOf(fields, 'failure_policy')) ?? onStoreFailure
  if (limit === undefined) return undefined
  const sample = readWhole(fieldOf(fields, 'sample'), 1, MAX_SAMPLED)
  const tiers = [{ label: '', when: [], limit, ...defined({ windowMs }) }]
  const sampled = defined({ sample: sample === 1 ? undefined : sample })
  return { name, mode: 'enforce', match, key: shared ? [] : key, tiers, cost, onStoreFailure: failure, ...sampled }
}

function readLimit(fields: Fields, per: string): AnyLimit | undefined {
  const at = { burst: requiredField(fields, 'capacity', DECIMAL_FORM), rate: requiredField(fields, 'refill_rate', DECIMAL_FORM) }
  const [capacity, tokens] = [readDecimal(at.burst), readDecimal(at.rate)]
  const burst = largerBurst(fields, capacity)
  if (at.burst === undefined || at.rate === undefined || burst === undefined || tokens === undefined) return undefined
  return readBucket({ tokens, per }, burst, { rate: at.rate, burst: at.burst })
}

/** `capacity` and `burst` mean the same here, so the larger one is used, with a warning. */
function largerBurst(fields: Fields, capacity: string | undefined): string | undefined {
  const burst = readDecimal(fieldOf(fields, 'burst'))
  if (burst === undefined || capacity === undefined) return capacity
  const larger = (toMicroTokens(burst) as number) > (toMicroTokens(capacity) as number) ? burst : capacity
  const what = `: capacity is the bucket already; of capacity ${capacity} and burst ${burst} the larger is used, ${larger}`
  warn({ ...(fieldOf(fields, 'burst') as Value), path: fields.path }, what)
  return larger
}

/** Warns of a `window` that is not the time the bucket takes to fill, and of a cost above the capacity. */
function warnOf(fields: Fields, limit: AnyLimit, windowMs: number | undefined): void {
  const [window, cost] = [fieldOf(fields, 'window'), fieldOf(fields, 'cost')]
  if (window !== undefined && windowMs !== undefined && limit.windowMs !== windowMs) {
    const fills = `a bucket of ${limit.capacity} fills in ${limit.windowMs} ms`
    warn({ ...window, path: fields.path }, `: ${fills}, and window says ${windowMs} ms`)
  }
  if (cost?.node.kind === 'scalar' && Number(cost.node.text) > limit.capacity)
    warn({ ...cost, path: fields.path }, `: a cost of ${cost.node.text} is above its capacity: such requests are never admitted`)
}

const FAILURES: ReadonlyMap<string, OnStoreFailure> = new Map([
  ['fail_open', 'allow'],
  ['fail_closed', 'deny'],
  ['local', 'local'],
])

/** Reads a `failure_policy`. */
export function readFailure(value: Value | undefined): OnStoreFailure | undefined {
  return FAILURES.get(readChoice(value, [...FAILURES.keys()]) ?? '')
}
