import type { Source } from '../../identity/source.ts'
import { join, quoted, textOf, type Value, wordOf } from '../document/value.ts'
import { conditionOf } from '../model/condition.ts'
import type { Condition } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { DESCRIPTOR_FORM, readDescriptor } from './descriptor.ts'
import { type BundleLimit, readTokenBucket } from './limit.ts'
import { readList } from './tolerated.ts'

export interface BundleRule extends BundleLimit {
  readonly at: Value
  readonly name: string
  readonly keys: readonly Source[]
  /** Equal for rules with the same keys and the same algorithm. */
  readonly counting: string
  readonly match: readonly Condition[] | undefined
}

export interface RuleOptions {
  readonly name?: string
  /** Without a bundle, `limit_keys` is optional. */
  readonly alone?: boolean
}

const NAMES = ['name', 'limit_keys', 'algorithm', 'algorithm_config', 'match']
const LATER = ['cost_based', 'token_bucket_llm']
const KEYS_FORM = `a list of ${DESCRIPTOR_FORM}; [] is one bucket for everybody`

export function* readBundleRule(value: Value, options: RuleOptions = {}): Sliced<BundleRule | undefined> {
  const fields = value.open({ names: NAMES, lenient: true })
  if (fields === undefined) return undefined
  const written = options.name === undefined ? fields.require('name', 'a name') : fields.get('name')
  const name = written === undefined ? options.name : readName(written)
  const keys = yield* readKeys(fields, options)
  const match = yield* readConditions(fields.get('match'))
  const limit = readAlgorithm(fields)
  if (name === undefined || keys === undefined || limit === undefined) return undefined
  const texts = keys.map(({ text }) => text).sort()
  return { at: value, name, keys, counting: [limit.limit.algorithm.tag, ...texts].join(' '), match, ...limit }
}

function* readKeys(fields: Value, { alone = false }: RuleOptions): Sliced<Source[] | undefined> {
  const value = alone ? fields.get('limit_keys') : fields.require('limit_keys', KEYS_FORM)
  if (value === undefined) {
    if (!alone) return undefined
    fields.at(join(fields.path, 'limit_keys')).warn(' is missing: all requests share one bucket')
    return []
  }
  const list = readList(value, KEYS_FORM)
  return list === undefined ? undefined : yield* flatMapSliced(list.items(), (item) => readDescriptor(item) ?? [])
}

function* readConditions(map: Value | undefined): Sliced<Condition[] | undefined> {
  if (map === undefined) return undefined
  return yield* flatMapSliced(map.entries(), ({ key, value }) => {
    const source = readDescriptor(key)
    const word = wordOf(value.node) ?? value.wrong('the text, number or truth value that must be there')
    if (source === undefined || word === undefined) return []
    const text = value.node.kind === 'scalar' && value.node.type === 'number' ? String(Number(word)) : word
    const condition = text === '' ? undefined : conditionOf(source, [text])
    if (condition === undefined) value.warn(` never holds: ${source.text} is never ${quoted(text)}`)
    return condition ?? { source, value: text }
  })
}

function readAlgorithm(fields: Value): BundleLimit | undefined {
  const written = fields.get('algorithm')
  if (written === undefined)
    fields.at(join(fields.path, 'algorithm')).warn(' is missing and is read as token_bucket: Fairvisor drops such a rule')
  const word = written?.node.kind === 'scalar' ? written.node.text : ''
  if (written !== undefined && LATER.includes(word))
    return written.refuse(` ${word} is not yet supported: expected token_bucket`, { value: JSON.stringify(word), allowed: 'token_bucket' })
  if (written !== undefined && word !== 'token_bucket') return written.wrong('token_bucket')
  return readTokenBucket(fields.require('algorithm_config', 'a map with tokens_per_second and burst'))
}

const MAX_LENGTH = 200

export function readName(value: Value | undefined): string | undefined {
  return value?.as(`a text of 1 to ${MAX_LENGTH} characters`, (node) => {
    const text = textOf(node) ?? ''
    return text !== '' && text.length <= MAX_LENGTH && !/\p{Cs}/u.test(text) ? text : undefined
  })
}

/** No two rules have the same encoded name. */
export function scopedName(policy: string | undefined, rule: string): string {
  return policy === undefined ? encode(rule) : `${encode(policy)}/${encode(rule)}`
}

function encode(name: string): string {
  return name.replace(/[^!$&-.0-[\]-~]/gu, encodeURIComponent)
}
