import { parseSource, valuesOf } from '../../identity/source.ts'
import { DECIMAL_FORM, isEmptyMap, type Value } from '../document/value.ts'
import { MAX_COST } from '../../algorithms/decimal.ts'
import { clientCost, endpointCosts, fixedCost } from '../model/cost.ts'
import type { Cost, Tier } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { CLIENT_COST, ENDPOINT_COST } from './grammar.ts'
import { readPath } from './match.ts'

const COST_FORM = `${DECIMAL_FORM}, { from: header:<name> or query:<name>, default, min, max }, or { endpoints: { <path>: <number> }, default }`
const FROM_FORM = 'header:<name> or query:<name>'

export function* readCost(value: Value | undefined): Sliced<Cost | undefined> {
  if (value === undefined) return fixedCost(1)
  const { node } = value
  if (node.kind === 'list') return value.wrong(COST_FORM)
  if (node.kind === 'map') return node.fields.has('endpoints') ? yield* readEndpoints(value) : readClient(value)
  const fixed = value?.decimal()
  return fixed === undefined ? undefined : fixedCost(Number(fixed))
}

function readClient(value: Value): Cost | undefined {
  const fields = value.open(CLIENT_COST)
  if (fields === undefined) return undefined
  const isSource = (text: string): boolean => /^(?:header|query):/.test(text) && parseSource(text) !== undefined
  const from = fields.require('from', FROM_FORM)?.text(FROM_FORM, isSource)
  const min = Number(fields.get('min')?.decimal() ?? 1)
  const max = Number(fields.get('max')?.decimal() ?? MAX_COST)
  const fallback = Number(fields.get('default')?.decimal() ?? Math.min(max, Math.max(min, 1)))
  if (min > max) value.refuse(`: min ${min} is above max ${max}`)
  else if (fallback < min || fallback > max) value.refuse(`: default ${fallback} is not between min ${min} and max ${max}`)
  if (from === undefined) return undefined
  const kind = from.startsWith('header:') ? 'header' : 'query'
  const written = from.slice(kind.length + 1)
  const name = kind === 'header' ? written.toLowerCase() : written
  return clientCost({ text: `${kind}:${name}`, values: (request) => valuesOf(kind, name, request), fallback, min, max })
}

function* readEndpoints(value: Value): Sliced<Cost | undefined> {
  const fields = value.open(ENDPOINT_COST)
  const listed = fields?.get('endpoints')
  if (fields === undefined || listed === undefined) return undefined
  if (isEmptyMap(listed.node)) listed.refuse(' is empty: expected at least one path with its cost')
  const costs = endpointCosts(Number(fields.get('default')?.decimal() ?? 1))
  for (const { key, value: price } of listed.entries()) {
    yield
    const [path, cost] = [readPath(key), price?.decimal()]
    if (path !== undefined && cost !== undefined) costs.add({ path, cost: Number(cost) })
  }
  yield* costs.index()
  return costs.cost
}

/** Requests whose cost is above the capacity of a limit are refused however long they wait. */
export function warnOfCost(rule: Value, cost: Cost, tiers: readonly Tier[]): void {
  const value = rule.get('cost')
  const capacities = tiers.map(({ limit }) => limit.capacity)
  if (capacities.length === 0) return
  const [least, most] = [Math.min(...capacities), Math.max(...capacities)]
  const never = (at: Value, what: number, why = ''): void =>
    at.warn(
      `: a cost of ${what}${why} is above ${what > most ? 'every' : 'a'} burst of this rule (${what > most ? most : least}): such requests are never admitted`,
    )
  if (value === undefined) {
    if (cost.unknown > least) never(rule, cost.unknown, ', the default,')
    return
  }
  if (value.node.kind === 'scalar') {
    if (cost.unknown > least) never(value, cost.unknown)
    return
  }
  const endpoints = value.get('endpoints')
  for (const { value: price } of endpoints?.entries() ?? []) {
    const number = Number(price.decimal() ?? 0)
    if (number > most) never(price, number)
  }
  if (cost.unknown > least) never(value.get('default') ?? value, cost.unknown)
  if (endpoints !== undefined || cost.most === undefined || cost.most <= most) return
  const above = `a client may send a cost above every burst of this rule (${most})`
  const max = value.get('max')
  ;(max ?? value).warn(
    `: ${max === undefined ? 'without max ' : ''}${above}: such a request is never admitted and gets no Retry-After; a max of ${most} prevents it`,
  )
}
