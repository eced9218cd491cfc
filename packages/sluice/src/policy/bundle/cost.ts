import { valuesOf } from '../../identity/source.ts'
import { canonicalHeader, headerValues, warnOfQuery } from './descriptor.ts'
import { readPositive } from './number.ts'
import { MAX_COST, dearestOf, fixedCost, readCost } from '../model/cost.ts'
import type { Fields } from '../document/fields.ts'
import type { Issues } from '../document/issues.ts'
import type { Cost } from '../model/rule.ts'

const SOURCE_FORM = 'fixed, header:<name>, or query:<name>'

/**
 * The cost of a request: `fixed_cost`, or the value of a header or parameter of the client. `default_cost` applies if there is no value,
 * or one that is not a plain decimal above 0. Of several values the highest counts.
 */
export function readBundleCost(config: Fields, issues: Issues): Cost | undefined {
  const from = config.text('cost_source', SOURCE_FORM, (text) => text === 'fixed' || /^(?:header|query):[A-Za-z0-9_-]{1,128}$/.test(text))
  warnOfMove(config, from, issues)
  const [fixed, fallback] = [readPositive(config, 'fixed_cost', issues), Number(readPositive(config, 'default_cost', issues) ?? 1)]
  const max = Number(readPositive(config, 'max_cost', issues) ?? MAX_COST)
  // A client that may send 0.0001 would pay nothing, so the minimum is below 1 only if the author set a smaller number.
  const min = Number(readPositive(config, 'min_cost', issues) ?? Math.min(1, fallback, max))
  if (config.node('cost_source') !== undefined && from === undefined) return undefined
  if (from === undefined || from === 'fixed') return fixedCost(Number(fixed ?? 1))
  if (min > max || fallback < min || fallback > max) {
    issues.add(config.at, config.path, `${config.path}: expected min_cost ${min} <= default_cost ${fallback} <= max_cost ${max}`)
    return undefined
  }
  const [kind, name = ''] = from.split(':')
  const values = kind === 'header' ? headerValues.bind(undefined, canonicalHeader(name)) : valuesOf.bind(undefined, 'query', name)
  const one = (text: string): number => {
    const cost = readCost(text)
    return cost === undefined || cost === 0 ? fallback : Math.min(max, Math.max(min, cost))
  }
  return {
    text: kind === 'header' ? `header:${canonicalHeader(name)}` : from,
    unknown: fallback,
    most: max,
    of: (request) => dearestOf(values(request), fallback, one),
  }
}

/** Warns of costs that differ from Fairvisor's. */
function warnOfMove(config: Fields, from: string | undefined, issues: Issues): void {
  const [source, fallback] = [config.node('cost_source'), config.node('default_cost')]
  if (fallback !== undefined && source === undefined)
    issues.warn(
      fallback.at,
      `${config.pathOf('default_cost')} is not charged without cost_source, and Fairvisor charges it: with fixed_cost it is charged here as well`,
    )
  if (source !== undefined && from?.startsWith('query:') === true) warnOfQuery(source, config.pathOf('cost_source'), from, issues)
}
