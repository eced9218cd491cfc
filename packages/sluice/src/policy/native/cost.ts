import { parseSource } from '../../identity/source.ts'
import { DECIMAL_FORM, openFields, readDecimal, readText, requiredField } from '../document/fields.ts'
import { entriesOf, fieldOf, isEmptyMap, refuse, type Value, wrong } from '../document/value.ts'
import { clientCost, endpointCosts, fixedCost, MAX_COST } from '../model/cost.ts'
import type { Cost } from '../model/rule.ts'
import type { Sliced } from '../model/sliced.ts'
import { CLIENT_COST, ENDPOINT_COST } from './grammar.ts'
import { readPath } from './match.ts'

const COST_FORM = `${DECIMAL_FORM}, { from: header:<name> or query:<name>, default, min, max }, or { endpoints: { <path>: <number> }, default }`
const FROM_FORM = 'header:<name> or query:<name>'

/** Reads the `cost` of a rule; default 1. A wrong one is reported and gives undefined. */
export function* readCost(value: Value | undefined): Sliced<Cost | undefined> {
  if (value === undefined) return fixedCost(1)
  const { node } = value
  if (node.kind === 'list') return wrong(value, COST_FORM)
  if (node.kind === 'map') return node.fields.has('endpoints') ? yield* readEndpoints(value) : readClient(value)
  const fixed = readDecimal(value)
  return fixed === undefined ? undefined : fixedCost(Number(fixed))
}

function readClient(value: Value): Cost | undefined {
  const fields = openFields(value, CLIENT_COST)
  if (fields === undefined) return undefined
  const isSource = (text: string): boolean => /^(?:header|query):/.test(text) && parseSource(text) !== undefined
  const from = readText(requiredField(fields, 'from', FROM_FORM), FROM_FORM, isSource)
  const min = Number(readDecimal(fieldOf(fields, 'min')) ?? 1)
  const max = Number(readDecimal(fieldOf(fields, 'max')) ?? MAX_COST)
  const fallback = Number(readDecimal(fieldOf(fields, 'default')) ?? Math.min(max, Math.max(min, 1)))
  if (min > max) refuse(value, `: min ${min} is above max ${max}`)
  else if (fallback < min || fallback > max) refuse(value, `: default ${fallback} is not between min ${min} and max ${max}`)
  if (from === undefined) return undefined
  const kind = from.startsWith('header:') ? 'header' : 'query'
  const name = from.slice(kind.length + 1)
  return clientCost({ kind, name: kind === 'header' ? name.toLowerCase() : name, fallback, min, max })
}

/** A fixed cost for each endpoint, for a rule that several of them share. */
function* readEndpoints(value: Value): Sliced<Cost | undefined> {
  const fields = openFields(value, ENDPOINT_COST)
  const listed = fieldOf(fields, 'endpoints')
  if (fields === undefined || listed === undefined) return undefined
  if (isEmptyMap(listed.node)) refuse(listed, ' is empty: expected at least one path with its cost')
  const costs = endpointCosts(Number(readDecimal(fieldOf(fields, 'default')) ?? 1))
  for (const { key, value: price } of entriesOf(listed)) {
    yield
    const [path, cost] = [readPath(key), readDecimal(price)]
    if (path !== undefined && cost !== undefined) costs.add({ path, cost: Number(cost) })
  }
  yield* costs.index()
  return costs.cost
}
