import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import { toMillis } from '../../time/micros.ts'
import { readBucket } from '../document/bucket.ts'
import { DECIMAL_FORM, type Fields, openFields } from '../document/fields.ts'
import { type Value, warn } from '../document/value.ts'

/** One bucket of the template, with its other fields. */
export interface Level {
  readonly fields: Fields
  /** Undefined for an endpoint that only has a cost, and for a wrong limit. */
  readonly limit: AnyLimit | undefined
  readonly windowMs: number | undefined
  /** One bucket for all identities. */
  readonly shared: boolean
}

const NAMES = ['capacity', 'burst', 'refill_rate', 'window', 'failure_policy', 'sample']

/** Reads a level. `capacity` is the burst, `refill_rate` the tokens per `window` (default 1 s). */
export function readLevel(value: Value, extra: readonly string[]): Level | undefined {
  const fields = openFields(value, { names: [...NAMES, ...extra] })
  if (fields === undefined) return undefined
  const shared = (extra.includes('shared') ? fields.flag('shared') : undefined) ?? false
  const window = fields.duration('window')
  const windowMs = window === undefined ? undefined : toMillis(window)
  const isPriceOnly = ['capacity', 'refill_rate'].every((name) => fields.get(name) === undefined) && fields.get('cost') !== undefined
  const limit = isPriceOnly ? undefined : readLimit(fields, window === undefined ? '1s' : `${window}us`)
  if (limit !== undefined) warnOf(fields, limit, windowMs)
  return { fields, limit, windowMs, shared }
}

function readLimit(fields: Fields, per: string): AnyLimit | undefined {
  const at = { burst: fields.require('capacity', DECIMAL_FORM), rate: fields.require('refill_rate', DECIMAL_FORM) }
  const [capacity, tokens] = [fields.decimal('capacity'), fields.decimal('refill_rate')]
  const burst = largerBurst(fields, capacity)
  if (at.burst === undefined || at.rate === undefined || burst === undefined || tokens === undefined) return undefined
  return readBucket({ tokens, per }, burst, { rate: at.rate, burst: at.burst })
}

/** `capacity` and `burst` mean the same here, so the larger one is used, with a warning. */
function largerBurst(fields: Fields, capacity: string | undefined): string | undefined {
  const burst = fields.decimal('burst')
  if (burst === undefined || capacity === undefined) return capacity
  const larger = (toMicroTokens(burst) as number) > (toMicroTokens(capacity) as number) ? burst : capacity
  const what = `: capacity is the bucket already; of capacity ${capacity} and burst ${burst} the larger is used, ${larger}`
  warn({ ...(fields.get('burst') as Value), path: fields.path }, what)
  return larger
}

/** Warns of a `window` that is not the time the bucket takes to fill, and of a cost above the capacity. */
function warnOf(fields: Fields, limit: AnyLimit, windowMs: number | undefined): void {
  const [window, cost] = [fields.get('window'), fields.get('cost')]
  if (window !== undefined && windowMs !== undefined && limit.windowMs !== windowMs) {
    const fills = `a bucket of ${limit.capacity} fills in ${limit.windowMs} ms`
    warn({ ...window, path: fields.path }, `: ${fills}, and window says ${windowMs} ms`)
  }
  if (cost?.node.kind === 'scalar' && Number(cost.node.text) > limit.capacity)
    warn({ ...cost, path: fields.path }, `: a cost of ${cost.node.text} is above its capacity: such requests are never admitted`)
}
