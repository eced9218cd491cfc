import { NETWORK_FORM } from '../../identity/network.ts'
import { normalizePattern } from '../../identity/path.ts'
import { parseSource, type Source, SOURCE_FORM } from '../../identity/source.ts'
import { type PolicyNode, textOf, type Value } from '../document/value.ts'
import { conditionOf } from '../model/condition.ts'
import { defined } from '../model/defined.ts'
import { compileGlob, type Glob, GLOB_FORM, pathSegments } from '../model/glob.ts'
import type { Condition, KeyPart, Match } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { MATCH, MAX_KEY_PARTS } from './grammar.ts'

export function readMatch(rule: Value): Match {
  const fields = rule.get('match')?.open(MATCH)
  if (fields === undefined) return { when: [] }
  const path = readPath(fields.get('path'))
  const methods = fields.get('method')?.texts('a method such as GET, or a list of them', (text) => /^[A-Za-z]{1,32}$/.test(text))
  const hosts = fields.get('host')?.texts('a host such as api.example.com or *.example.com, or a list of them', isHost)
  return {
    ...defined({
      path,
      methods: methods === undefined ? undefined : new Set(methods.map((method) => method.toUpperCase())),
      hosts: hosts?.map((host) => compileGlob(host, host.toLowerCase().split('.')) as Glob),
    }),
    when: [],
  }
}

export function readPath(value: Value | undefined): Glob | undefined {
  return value?.as(GLOB_FORM, (node) => {
    const text = textOf(node) ?? ''
    const segments = pathSegments(normalizePattern(text).toLowerCase())
    // A router's `:id` or `{id}` would be a literal that never matches.
    const named = segments.some((segment) => /^:|^\{.*\}$/.test(segment))
    return text.startsWith('/') && !/[?#]/.test(text) && !named ? compileGlob(text, segments) : undefined
  })
}

/** An empty list means one bucket for all requests. */
export function readKey(list: Value | undefined): KeyPart[] | undefined {
  if (list === undefined) return undefined
  if (list.node.kind !== 'list') return list.wrong(`a list of ${SOURCE_FORM}; [] is one bucket for everybody`)
  const { length } = list.node.items
  if (length > MAX_KEY_PARTS) list.refuse(` has ${length} parts: expected at most ${MAX_KEY_PARTS}`)
  const sources = [...list.items()].slice(0, MAX_KEY_PARTS).map(readSource)
  return sources.flatMap((source) => (source === undefined ? [] : [[source]]))
}

export function* readWhen(tier: Value): Sliced<Condition[]> {
  const when = tier.get('when')
  if (when === undefined) return []
  const form = 'the text the value must have, or a list of texts'
  return yield* flatMapSliced(when.entries(), ({ key, value }) => {
    const source = readSource(key.at(when.path))
    if (value.node.kind === 'map') value.wrong(form)
    if (source === undefined || value.node.kind === 'map') return []
    const texts = value.texts(form, isAny)
    if (texts.length === 0) return []
    const condition = conditionOf(source, texts)
    if (condition === undefined) value.wrong(source.text.startsWith('ip:') ? NETWORK_FORM : `a value of ${source.text}`)
    return condition ?? []
  })
}

const isAny = (): boolean => true

function readSource(value: Value): Source | undefined {
  const text = sourceText(value.node)
  const source = text === undefined ? undefined : parseSource(text)
  if (source !== undefined || text === undefined) return source ?? value.wrong(SOURCE_FORM)
  return value.with({ kind: 'scalar', at: value.node.at, text, type: 'text' }).wrong(SOURCE_FORM)
}

/** In a list YAML parses `path:` without quotes as a map. */
function sourceText(node: PolicyNode): string | undefined {
  if (node.kind !== 'map' || node.fields.size !== 1) return textOf(node)
  const [[name, { value }] = ['', { value: node }]] = node.fields
  return value.kind === 'scalar' && value.type === 'null' ? `${name}:` : undefined
}

function isHost(text: string): boolean {
  return text.length <= 253 && text.split('.').length <= 30 && /^(?:(?:[\w-]+|\*\*?)\.)*(?:[\w-]+|\*\*?)$/.test(text)
}
