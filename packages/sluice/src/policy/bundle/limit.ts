import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { LimiterError } from '../../errors/limiter-error.ts'
import { readBucket } from '../document/bucket.ts'
import { readBundleCost } from './cost.ts'
import { type PerSecond, readPerSecond, readPositive } from './number.ts'
import type { PolicyNode } from '../document/node.ts'
import { DECIMAL_FORM, type Fields, openFields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import type { Cost } from '../model/rule.ts'

const NAMES = ['tokens_per_second', 'rps', 'burst', 'cost_source', 'fixed_cost', 'default_cost', 'min_cost', 'max_cost', 'algorithm']
const RATE_FORM = `tokens_per_second or rps, ${DECIMAL_FORM}`

export interface BundleLimit {
  readonly limit: AnyLimit
  readonly cost: Cost
}

/** Reads the `algorithm_config` of a token bucket. A wrong one is reported and gives undefined. */
export function readTokenBucket(node: PolicyNode, path: string, lenient: boolean, issues: Issues): BundleLimit | undefined {
  const config = openFields(node, path, { names: NAMES, lenient }, issues)
  if (config === undefined) return undefined
  config.choice('algorithm', ['token_bucket'])
  const cost = readBundleCost(config, issues)
  const limit = readLimit(config, issues)
  if (limit === undefined || cost === undefined) return undefined
  if (cost.unknown > limit.capacity)
    issues.warn(config.at, `${path}: a cost of ${cost.unknown} is above the burst of ${limit.capacity}: such requests are never admitted`)
  else if (cost.most !== undefined && cost.most > limit.capacity)
    issues.warn(
      config.at,
      `${path}: a client may say a cost above the burst of ${limit.capacity}: it is refused with a RateLimit-Reset of 0 or 1 and no Retry-After, unless max_cost is at most the burst`,
    )
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
    chosenRate(rate, burst, config.pathOf(name), rateNode, issues),
    burst,
    { rate: { node: rateNode, path: config.pathOf(name) }, burst: { node: burstNode, path: config.pathOf('burst') } },
    issues,
  )
}

/** The most exact form of a rate that a bucket of this burst can hold; warns if it is rounded. */
function chosenRate({ forms }: PerSecond, burst: string, path: string, { at }: PolicyNode, issues: Issues): Rate {
  const found = forms.findIndex(({ rate }) => canHold(rate, burst))
  // If no form fits, the last and simplest one gives the clearest error.
  const index = found === -1 ? forms.length - 1 : found
  const { rate, text } = forms[index] as PerSecond['forms'][number]
  if (index > 0) issues.warn(at, `${path} has more decimals than a bucket of this burst can count: it is rounded down to ${text}`)
  return rate
}

function canHold(rate: Rate, burst: string): boolean {
  try {
    tokenBucket({ rate, burst })
    return true
  } catch (error) {
    if (error instanceof LimiterError) return false
    throw error
  }
}
