import { parseSource } from '../../identity/source.ts'
import { clientCost, MAX_COST, fixedCost } from '../model/cost.ts'
import { DECIMAL_FORM, type Fields, fieldsOf, openFields, openMap } from '../document/fields.ts'
import { type Issues, join } from '../document/issues.ts'
import { readPath } from './match.ts'
import { CLIENT_COST, ENDPOINT_COST } from './grammar.ts'
import type { MapNode } from '../document/node.ts'
import type { Cost } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { endpointCost, priceList } from '../template/cost.ts'

const COST_FORM = `${DECIMAL_FORM}, { from: header:<name> or query:<name>, default, min, max }, or { endpoints: { <path>: <number> }, default }`
const FROM_FORM = 'header:<name> or query:<name>'

/** Reads the `cost` of a rule; default 1. A wrong one is reported and gives undefined. */
export function* readCost(rule: Fields, issues: Issues): Sliced<Cost | undefined> {
  const node = rule.node('cost')
  if (node === undefined) return fixedCost(1)
  if (node.kind === 'list') issues.wrong(node, rule.pathOf('cost'), COST_FORM)
  if (node.kind === 'scalar') {
    const fixed = rule.decimal('cost')
    return fixed === undefined ? undefined : fixedCost(Number(fixed))
  }
  if (node.kind !== 'map') return undefined
  return node.fields.has('endpoints')
    ? yield* readEndpoints(node, rule.pathOf('cost'), issues)
    : readClient(node, rule.pathOf('cost'), issues)
}

function readClient(node: MapNode, path: string, issues: Issues): Cost | undefined {
  const fields = openFields(node, path, CLIENT_COST, issues)
  if (fields === undefined) return undefined
  fields.require('from', FROM_FORM)
  const from = fields.text('from', FROM_FORM, (text) => /^(?:header|query):/.test(text) && parseSource(text) !== undefined)
  const min = Number(fields.decimal('min') ?? 1)
  const max = Number(fields.decimal('max') ?? MAX_COST)
  const fallback = Number(fields.decimal('default') ?? Math.min(max, Math.max(min, 1)))
  if (min > max) issues.add(node.at, path, `${path}: min ${min} is above max ${max}`)
  else if (fallback < min || fallback > max)
    issues.add(node.at, path, `${path}: default ${fallback} is not between min ${min} and max ${max}`)
  if (from === undefined) return undefined
  const kind = from.startsWith('header:') ? 'header' : 'query'
  const name = from.slice(kind.length + 1)
  return clientCost({ kind, name: kind === 'header' ? name.toLowerCase() : name, fallback, min, max })
}

/** A fixed cost for each endpoint, for a rule that several of them share. */
function* readEndpoints(node: MapNode, path: string, issues: Issues): Sliced<Cost | undefined> {
  const fields = openFields(node, path, ENDPOINT_COST, issues)
  const listed = fields?.node('endpoints')
  const map = listed === undefined ? undefined : openMap(listed, `${path}.endpoints`, issues)
  if (fields === undefined || map === undefined) return undefined
  if (map.fields.size === 0) issues.add(map.at, `${path}.endpoints`, `${path}.endpoints is empty: expected at least one path with its cost`)
  const prices = priceList()
  const costs = fieldsOf(map, `${path}.endpoints`, issues)
  for (const [name, { at }] of map.fields) {
    yield
    const glob = readPath({ kind: 'scalar', at, text: name, type: 'text' }, join(`${path}.endpoints`, name), issues)
    const cost = costs.decimal(name)
    if (glob !== undefined && cost !== undefined) prices.add({ path: glob, cost: Number(cost) })
  }
  yield* prices.index()
  return endpointCost(prices, Number(fields.decimal('default') ?? 1))
}
