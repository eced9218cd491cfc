import type { AnyLimit } from '../algorithms/algorithm.ts'
import { toMicroTokens } from '../algorithms/decimal.ts'
import { readBucket } from './bucket.ts'
import { readBundleCost } from './bundle-cost.ts'
import { readPerSecond, readPositive } from './bundle-number.ts'
import type { PolicyNode } from './node.ts'
import { DECIMAL_FORM, type Fields, openFields } from './fields.ts'
import type { Issues } from './issues.ts'
import type { Cost } from './rule.ts'

const NAMES = ['tokens_per_second', 'rps', 'burst', 'cost_source', 'fixed_cost', 'default_cost', 'min_cost', 'max_cost', 'algorithm']
const RATE_FORM = `tokens_per_second or rps, ${DECIMAL_FORM}`

export interface BundleLimit {
  readonly limit: AnyLimit
  readonly cost: Cost
}

/** The `algorithm_config` of a token bucket; undefined where it is wrong, which is then reported. */
export function readTokenBucket(node: PolicyNode, path: string, lenient: boolean, issues: Issues): BundleLimit | undefined {
  const config = openFields(node, path, { names: NAMES, lenient }, issues)
  if (config === undefined) return undefined
  config.choice('algorithm', ['token_bucket'])
  const cost = readBundleCost(config, issues)
  const limit = readLimit(config, issues)
  if (limit === undefined || cost === undefined) return undefined
  if (cost.unknown > limit.capacity)
    issues.warn(config.at, `${path}: a cost of ${cost.unknown} is above the burst of ${limit.capacity}: such requests are never admitted`)
  return { limit, cost }
}

function readLimit(config: Fields, issues: Issues): AnyLimit | undefined {
  const name = config.node('tokens_per_second') === undefined ? 'rps' : 'tokens_per_second'
  const rateNode = config.node(name)
  if (rateNode === undefined)
    issues.add(config.at, config.pathOf('tokens_per_second'), `${config.path} has no rate: expected ${RATE_FORM}`, { allowed: RATE_FORM })
  else if (name === 'tokens_per_second' && config.node('rps') !== undefined)
    issues.warn(rateNode.at, `${config.path}: of tokens_per_second and rps the first is used`)
  config.require('burst', `${DECIMAL_FORM}, at least the rate`)
  const [rate, burst, burstNode] = [readPerSecond(config, name, issues), readPositive(config, 'burst', issues), config.node('burst')]
  if (rate === undefined || burst === undefined || rateNode === undefined || burstNode === undefined) return undefined
  if ((toMicroTokens(burst) as number) / 1_000_000 < rate.value) {
    issues.wrong(burstNode, config.pathOf('burst'), `at least ${name}, which is ${rate.value}`)
    return undefined
  }
  return readBucket(
    rate.rate,
    burst,
    { rate: { node: rateNode, path: config.pathOf(name) }, burst: { node: burstNode, path: config.pathOf('burst') } },
    issues,
  )
}
