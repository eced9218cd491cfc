import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { MAX_COST, toMicroTokens } from '../../algorithms/decimal.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { valuesOf } from '../../identity/source.ts'
import { below, DECIMAL_FORM, type Value } from '../document/value.ts'
import { clientCost, fixedCost, readCost } from '../model/cost.ts'
import type { Cost } from '../model/rule.ts'
import { canonicalHeader, headerValues, warnOfQuery } from './descriptor.ts'
import { type PerSecond, readPerSecond, readPositive } from './number.ts'
import { readBucket } from '../native/limit-form.ts'

const COST_NAMES = ['cost_source', 'fixed_cost', 'default_cost', 'min_cost', 'max_cost']
const NAMES = ['tokens_per_second', 'rps', 'burst', ...COST_NAMES, 'algorithm']
const RATE_FORM = `tokens_per_second or rps, ${DECIMAL_FORM}`

export interface BundleLimit {
  readonly limit: AnyLimit
  readonly cost: Cost
}

export function readTokenBucket(value: Value | undefined): BundleLimit | undefined {
  const config = value?.open({ names: NAMES, lenient: true })
  if (config === undefined) return undefined
  config.get('algorithm')?.choice(['token_bucket'])
  const cost = readBundleCost(config)
  const limit = readLimit(config)
  if (limit === undefined || cost === undefined) return undefined
  const burst = `the burst of ${limit.capacity}`
  const refusal = 'it is refused without Retry-After, unless max_cost is at most the burst'
  if (cost.unknown > limit.capacity) config.warn(`: a cost of ${cost.unknown} is above ${burst}: such requests are never admitted`)
  else if (cost.most !== undefined && cost.most > limit.capacity) config.warn(`: a client may say a cost above ${burst}: ${refusal}`)
  return { limit, cost }
}

function readLimit(config: Value): AnyLimit | undefined {
  const [exact, short] = [config.get('tokens_per_second'), config.get('rps')]
  const [name, rateValue] = exact === undefined ? ['rps', short] : ['tokens_per_second', exact]
  const missing = `${config.path} has no rate: expected ${RATE_FORM}`
  if (rateValue === undefined) config.issues.add(config.node.at, below(config.path, 'tokens_per_second'), missing, { allowed: RATE_FORM })
  else if (exact !== undefined && short !== undefined) exact.at(config.path).warn(': of tokens_per_second and rps the first is used')
  const burstValue = config.require('burst', `${DECIMAL_FORM}, at least the rate`)
  const [rate, burst] = [readPerSecond(rateValue), readPositive(burstValue)]
  if (rate === undefined || burst === undefined || rateValue === undefined || burstValue === undefined) return undefined
  const isBelowRate = (toMicroTokens(burst) as number) / 1_000_000 < rate.value
  if (isBelowRate) return burstValue.wrong(`at least ${name}, which is ${rate.value}`)
  return readBucket(chosenRate(rate, burst, rateValue), burst, rateValue, burstValue)
}

/** The most exact form that a bucket of this burst allows. */
function chosenRate({ forms }: PerSecond, burst: string, value: Value): Rate {
  const found = forms.findIndex(({ rate }) => !(attempt(() => tokenBucket({ rate, burst })) instanceof LimiterError))
  // If none is valid, the last and simplest gives the clearest error.
  const index = found === -1 ? forms.length - 1 : found
  const { rate, text } = forms[index] as PerSecond['forms'][number]
  if (index > 0) value.warn(` has more decimals than a bucket of this burst can count: it is rounded down to ${text}`)
  return rate
}

const SOURCE_FORM = 'fixed, header:<name>, or query:<name>'

/** `default_cost` replaces an absent or invalid value. Of several values the highest counts. */
function readBundleCost(config: Value): Cost | undefined {
  const from = config.get('cost_source')?.text(SOURCE_FORM, (text) => /^(?:fixed|(?:header|query):[A-Za-z0-9_-]{1,128})$/.test(text))
  const source = config.get('cost_source')
  warnOfCost(config, source, from)
  const positive = (name: string, otherwise: number): number => Number(readPositive(config.get(name)) ?? otherwise)
  const [fixed, fallback] = [positive('fixed_cost', 1), positive('default_cost', 1)]
  const max = positive('max_cost', MAX_COST)
  // The least cost is 1, unless the policy states a lower number. Otherwise a client could send 0.0001 and pay almost nothing.
  const min = positive('min_cost', Math.min(1, fallback, max))
  if (source !== undefined && from === undefined) return undefined
  if (from === undefined || from === 'fixed') return fixedCost(fixed)
  if (min > max || fallback < min || fallback > max)
    return config.refuse(`: expected min_cost ${min} <= default_cost ${fallback} <= max_cost ${max}`)
  const [kind, name = ''] = from.split(':')
  const header = kind === 'header' ? canonicalHeader(name) : undefined
  return clientCost({
    text: header === undefined ? from : `header:${header}`,
    values: (request) => (header === undefined ? valuesOf('query', name, request) : headerValues(header, request)),
    fallback,
    min,
    max,
    costOf: (text) => readCost(text) || undefined,
  })
}

function warnOfCost(config: Value, source: Value | undefined, from: string | undefined): void {
  const fallback = config.get('default_cost')
  if (fallback !== undefined && source === undefined)
    fallback.warn(' is not charged without cost_source, and Fairvisor charges it: with fixed_cost it is charged here as well')
  if (source !== undefined && from?.startsWith('query:') === true) warnOfQuery(source, from)
}
