import { canonicalValue } from '../../identity/source.ts'
import type { Micros } from '../../time/micros.ts'
import { INSTANT_FORM, parseInstant } from '../../time/instant.ts'
import { textOf, type Value, wordOf } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import type { Override, Rule } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { OVERRIDE } from './grammar.ts'
import { readAlgorithm, readLimit } from './limit-form.ts'

const MAX_OVERRIDES = 10_000

/**
 * No message shows a key, because it may identify a person.
 * @param now overrides that have ended by then are warned of
 */
export function* readOverrides(fields: Value, rules: readonly Rule[], now: Micros): Sliced<Override[] | undefined> {
  const form = `a list of { rule, key, the fields of a limit, until }, at most ${MAX_OVERRIDES}`
  const known = new Map(rules.map((rule) => [rule.name, rule]))
  const seen = new Map<string, number>()
  const overrides = yield* flatMapSliced(fields.get('overrides')?.items(form, MAX_OVERRIDES), (item, index) => {
    const override = readOverride(item, known)
    if (override === undefined) return []
    warnOfOverride(item, override, known, now)
    const same = JSON.stringify([override.rule, ...override.values.map((value) => value ?? null)])
    const earlier = seen.get(same)
    if (earlier === undefined) seen.set(same, index)
    else item.refuse(` is about the key of overrides[${earlier}]: expected one of them`)
    return override
  })
  return overrides.length === 0 ? undefined : overrides
}

function warnOfOverride(
  item: Value,
  { rule: name, limit, until = Infinity }: Override,
  rules: ReadonlyMap<string, Rule>,
  now: Micros,
): void {
  const end = item.get('until')
  if (end !== undefined && until <= now) end.warn(`: ${textOf(end.node)} is past: this override has ended and changes nothing`)
  const { cost, sample = 1 } = rules.get(name) as Rule
  const { capacity } = limit
  const above = `above the limit of this override (${capacity})`
  if (cost.unknown > capacity) {
    const which = sample === 1 ? 'such requests' : `those of them that are counted, one in ${sample},`
    item.warn(`: the rule's cost of ${cost.unknown} is ${above}: ${which} are never admitted`)
  } else if (cost.unknown * sample > capacity) {
    const charge = `one request in ${sample} would be charged ${cost.unknown * sample}, ${above}`
    item.warn(`: ${charge}: it is charged ${capacity}, so this key may get more than the limit`)
  }
}

export function readOverride(value: Value, rules: ReadonlyMap<string, Rule>): Override | undefined {
  const fields = value.open(OVERRIDE)
  if (fields === undefined) return undefined
  const written = fields.require('rule', 'the name of a rule')
  const key = fields.require('key', 'the value of the key, or a list of its values')
  const rule = written === undefined ? undefined : rules.get(textOf(written.node) ?? '')
  // Joined only for a message: there may be thousands of overrides.
  if (written !== undefined && rule === undefined) written.wrong(`one of ${[...rules.keys()].slice(0, 20).join(', ')}`)
  const values = rule === undefined || key === undefined ? undefined : readValues(key, rule)
  const algorithm = readAlgorithm(fields, rule?.tiers[0]?.limit.algorithm.name ?? 'token-bucket')
  const limit = algorithm === undefined ? undefined : readLimit(fields, algorithm)
  const until = fields.get('until')?.as(INSTANT_FORM, (node) => parseInstant(textOf(node) ?? ''))
  if (rule === undefined || values === undefined || limit === undefined) return undefined
  return { rule: rule.name, values, limit, ...defined({ until }) }
}

function readValues(key: Value, rule: Rule): (string | undefined)[] | undefined {
  const sources = rule.key.flat()
  const allowed = sources.map(({ text }) => text).join(', ')
  const expected = allowed === '' ? '0' : `${sources.length} (${allowed})`
  const items = key.node.kind === 'list' ? key.node.items : [key.node]
  if (items.length !== sources.length)
    return key.refuse(` has ${items.length} value${items.length === 1 ? '' : 's'}: expected ${expected}`, { allowed })
  return sources.map((source, index) => {
    const node = items[index] as (typeof items)[number]
    if (node.kind === 'scalar' && node.type === 'null') return undefined
    const text = wordOf(node)
    const value = text === undefined ? undefined : canonicalValue(source, text)
    return value ?? key.with(node).refuse(` ${index + 1} is not a value of ${source.text}`, { allowed: source.text })
  })
}
