import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import { toMillis } from '../../time/micros.ts'
import { readBucket } from '../document/bucket.ts'
import type { PolicyNode } from '../document/node.ts'
import { DECIMAL_FORM, type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'

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
export function readLevel(node: PolicyNode, path: string, extra: readonly string[], issues: Issues): Level | undefined {
  const fields = openFields(node, path, { names: [...NAMES, ...extra] }, issues)
  if (fields === undefined) return undefined
  const shared = (extra.includes('shared') ? fields.flag('shared') : undefined) ?? false
  const window = fields.duration('window')
  const level = { fields, shared, windowMs: window === undefined ? undefined : toMillis(window) }
  const [capacityNode, refillNode] = [fields.node('capacity'), fields.node('refill_rate')]
  if (capacityNode === undefined && refillNode === undefined && fields.node('cost') !== undefined) return { ...level, limit: undefined }
  fields.require('capacity', DECIMAL_FORM)
  fields.require('refill_rate', DECIMAL_FORM)
  const [capacity, refill] = [fields.decimal('capacity'), fields.decimal('refill_rate')]
  const burst = largerBurst(fields, capacity, issues)
  if (capacityNode === undefined || refillNode === undefined || burst === undefined || refill === undefined)
    return { ...level, limit: undefined }
  const at = {
    rate: { node: refillNode, path: fields.pathOf('refill_rate') },
    burst: { node: capacityNode, path: fields.pathOf('capacity') },
  }
  const limit = readBucket({ tokens: refill, per: window === undefined ? '1s' : `${window}us` }, burst, at, issues)
  warnOfWindow(fields, level.windowMs, limit, issues)
  warnOfCost(fields, limit, issues)
  return { ...level, limit }
}

/** `capacity` and `burst` mean the same here, so the larger one is used, with a warning. */
function largerBurst(fields: Fields, capacity: string | undefined, issues: Issues): string | undefined {
  const burst = fields.decimal('burst')
  if (burst === undefined || capacity === undefined) return capacity
  const larger = (toMicroTokens(burst) as number) > (toMicroTokens(capacity) as number) ? burst : capacity
  const message = `${fields.path}: capacity is the bucket already; of capacity ${capacity} and burst ${burst} the larger is used, ${larger}`
  issues.warn((fields.node('burst') as PolicyNode).at, message)
  return larger
}

function warnOfWindow(fields: Fields, windowMs: number | undefined, limit: AnyLimit | undefined, issues: Issues): void {
  const node = fields.node('window')
  if (node === undefined || windowMs === undefined || limit === undefined || limit.windowMs === windowMs) return
  issues.warn(node.at, `${fields.path}: a bucket of ${limit.capacity} fills in ${limit.windowMs} ms, and window says ${windowMs} ms`)
}

function warnOfCost(fields: Fields, limit: AnyLimit | undefined, issues: Issues): void {
  const node = fields.node('cost')
  if (node?.kind !== 'scalar' || limit === undefined || !(Number(node.text) > limit.capacity)) return
  issues.warn(node.at, `${fields.path}: a cost of ${node.text} is above its capacity: such requests are never admitted`)
}
