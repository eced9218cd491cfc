import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import { toMillis } from '../../time/micros.ts'
import { DECIMAL_FORM, type Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { Cost, KeyPart, Match, OnStoreFailure, Rule } from '../model/rule.ts'
import { MAX_SAMPLED } from '../native/grammar.ts'
import { readBucket } from '../native/limit-form.ts'

interface Use {
  readonly extra?: readonly string[]
  readonly key: readonly KeyPart[]
  readonly match: Match
  readonly cost: Cost
  readonly onStoreFailure: OnStoreFailure
}

const NAMES = ['capacity', 'burst', 'refill_rate', 'window', 'failure_policy', 'sample']

/** `capacity` is the burst. A `shared` level has one bucket for all callers. Undefined for an endpoint that only has a cost. */
export function readLevel(value: Value, name: string, use: Use): Rule | undefined {
  const { extra = [], key, match, cost, onStoreFailure } = use
  const fields = value.open({ names: [...NAMES, ...extra] })
  if (fields === undefined) return undefined
  const shared = extra.includes('shared') && fields.get('shared')?.flag() === true
  const window = fields.get('window')?.duration()
  const windowMs = window === undefined ? undefined : toMillis(window)
  const isPriceOnly = ['capacity', 'refill_rate'].every((one) => fields.get(one) === undefined) && fields.get('cost') !== undefined
  const limit = isPriceOnly ? undefined : readLimit(fields, window === undefined ? '1s' : `${window}us`)
  if (limit !== undefined) warnOf(fields, limit, windowMs)
  const failure = readFailure(fields.get('failure_policy')) ?? onStoreFailure
  if (limit === undefined) return undefined
  const sample = fields.get('sample')?.whole(1, MAX_SAMPLED)
  const tiers = [{ label: '', when: [], limit, ...defined({ windowMs }) }]
  const sampled = defined({ sample: sample === 1 ? undefined : sample })
  return { name, mode: 'enforce', match, key: shared ? [] : key, tiers, cost, onStoreFailure: failure, ...sampled }
}

function readLimit(fields: Value, per: string): AnyLimit | undefined {
  const at = { burst: fields.require('capacity', DECIMAL_FORM), rate: fields.require('refill_rate', DECIMAL_FORM) }
  const [capacity, tokens] = [at.burst?.decimal(), at.rate?.decimal()]
  const burst = largerBurst(fields, capacity)
  if (at.burst === undefined || at.rate === undefined || burst === undefined || tokens === undefined) return undefined
  return readBucket({ tokens, per }, burst, at.rate, at.burst)
}

/** `capacity` and `burst` mean the same here: the larger is used. */
function largerBurst(fields: Value, capacity: string | undefined): string | undefined {
  const value = fields.get('burst')
  const burst = value?.decimal()
  if (value === undefined || burst === undefined || capacity === undefined) return capacity
  const larger = (toMicroTokens(burst) as number) > (toMicroTokens(capacity) as number) ? burst : capacity
  const what = `of capacity ${capacity} and burst ${burst} the larger is used, ${larger}`
  value.at(fields.path).warn(`: capacity is the bucket already; ${what}`)
  return larger
}

function warnOf(fields: Value, limit: AnyLimit, windowMs: number | undefined): void {
  const [window, cost] = [fields.get('window'), fields.get('cost')]
  if (window !== undefined && windowMs !== undefined && limit.windowMs !== windowMs) {
    const fills = `a bucket of ${limit.capacity} fills in ${limit.windowMs} ms`
    window.at(fields.path).warn(`: ${fills}, and window says ${windowMs} ms`)
  }
  if (cost?.node.kind === 'scalar' && Number(cost.node.text) > limit.capacity)
    cost.at(fields.path).warn(`: a cost of ${cost.node.text} is above its capacity: such requests are never admitted`)
}

const FAILURES: ReadonlyMap<string, OnStoreFailure> = new Map([
  ['fail_open', 'allow'],
  ['fail_closed', 'deny'],
  ['local', 'local'],
])

export function readFailure(value: Value | undefined): OnStoreFailure | undefined {
  return FAILURES.get(value?.choice([...FAILURES.keys()]) ?? '')
}
