import type { Source } from '../../identity/source.ts'
import { DESCRIPTOR_FORM, readDescriptor } from './descriptor.ts'
import { type BundleLimit, readTokenBucket } from './limit.ts'
import { readItems } from './list.ts'
import { readName } from './name.ts'
import type { PolicyNode } from '../document/node.ts'
import { type Fields, openFields, openMap } from '../document/fields.ts'
import { type Issues, join } from '../document/issues.ts'
import { conditionOf } from '../model/condition.ts'
import type { Condition } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

/** A rule as written; which requests it applies to depends on its siblings. */
export interface BundleRule extends BundleLimit {
  readonly at: number
  readonly path: string
  readonly name: string
  readonly keys: readonly Source[]
  /** The same text for rules that have the same keys and the same algorithm. */
  readonly counting: string
  /** Undefined if the rule has no `match`. */
  readonly match: readonly Condition[] | undefined
}

export interface RuleOptions {
  readonly lenient: boolean
  /** Replaces a missing name. */
  readonly name?: string
  /** A rule without a bundle may omit its `limit_keys`. */
  readonly alone?: boolean
}

const NAMES = ['name', 'limit_keys', 'algorithm', 'algorithm_config', 'match']
const LATER = ['cost_based', 'token_bucket_llm']
const KEYS_FORM = `a list of ${DESCRIPTOR_FORM}; [] is one bucket for everybody`

/** Reads one rule. A wrong one is reported and gives undefined. */
export function* readBundleRule(node: PolicyNode, path: string, options: RuleOptions, issues: Issues): Sliced<BundleRule | undefined> {
  yield
  const fields = openFields(node, path, { names: NAMES, lenient: options.lenient }, issues)
  if (fields === undefined) return undefined
  const nameNode = fields.node('name')
  if (nameNode === undefined && options.name === undefined) fields.require('name', 'a name')
  const name = nameNode === undefined ? options.name : readName(nameNode, fields.pathOf('name'), issues)
  const keys = yield* readKeys(fields, options, issues)
  const match = yield* readConditions(fields, issues)
  const limit = readAlgorithm(fields, options.lenient, issues)
  if (name === undefined || keys === undefined || limit === undefined) return undefined
  const texts = keys.map(({ text }) => text).sort()
  return { at: fields.at, path, name, keys, counting: [limit.limit.algorithm.tag, ...texts].join(' '), match, ...limit }
}

function* readKeys(fields: Fields, { alone = false, lenient }: RuleOptions, issues: Issues): Sliced<Source[] | undefined> {
  const node = fields.node('limit_keys')
  const path = fields.pathOf('limit_keys')
  if (node === undefined && alone) {
    issues.warn(fields.at, `${path} is missing: all requests share one bucket`)
    return []
  }
  if (node === undefined) fields.require('limit_keys', KEYS_FORM)
  const items = node === undefined ? undefined : readItems(node, path, KEYS_FORM, lenient, issues)
  if (items === undefined) return undefined
  return yield* flatMapSliced(items, (item, index) => readDescriptor(item, `${path}[${index}]`, issues) ?? [])
}

function* readConditions(fields: Fields, issues: Issues): Sliced<Condition[] | undefined> {
  const node = fields.node('match')
  if (node === undefined) return undefined
  const map = openMap(node, fields.pathOf('match'), issues)
  return yield* flatMapSliced(map?.fields ?? [], ([name, { at, value }]) => {
    const path = join(fields.pathOf('match'), name)
    const source = readDescriptor({ kind: 'scalar', at, text: name, type: 'text' }, path, issues)
    if (value.kind !== 'scalar' || value.type === 'null') {
      issues.wrong(value, path, 'the text, number or truth value that must be there')
      return []
    }
    const text = value.type === 'number' ? String(Number(value.text)) : value.text
    const condition = source === undefined || text === '' ? undefined : conditionOf(source, [text])
    if (source === undefined || condition !== undefined) return condition ?? []
    issues.warn(value.at, `${path} never holds: ${source.text} is never ${JSON.stringify(text.slice(0, 60))}`)
    return { source, value: text }
  })
}

function readAlgorithm(fields: Fields, lenient: boolean, issues: Issues): BundleLimit | undefined {
  const node = fields.node('algorithm')
  const algorithm = node?.kind === 'scalar' ? node.text : ''
  if (node !== undefined && algorithm !== 'token_bucket') {
    const path = fields.pathOf('algorithm')
    const more = { value: JSON.stringify(algorithm), allowed: 'token_bucket' }
    if (LATER.includes(algorithm)) issues.add(node.at, path, `${path} ${algorithm} is not yet supported: expected token_bucket`, more)
    else issues.wrong(node, path, 'token_bucket')
    return undefined
  }
  if (node === undefined)
    issues.warn(fields.at, `${fields.pathOf('algorithm')} is missing and is read as token_bucket: Fairvisor drops such a rule`)
  const config = fields.node('algorithm_config')
  if (config !== undefined) return readTokenBucket(config, fields.pathOf('algorithm_config'), lenient, issues)
  fields.require('algorithm_config', 'a map with tokens_per_second and burst')
  return undefined
}
