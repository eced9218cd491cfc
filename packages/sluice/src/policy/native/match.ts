import { NETWORK_FORM } from '../../identity/network.ts'
import { normalizePath } from '../../identity/path.ts'
import { parseSource, type Source, SOURCE_FORM } from '../../identity/source.ts'
import { type Fields, openFields, readTexts } from '../document/fields.ts'
import { entriesOf, fieldOf, itemsOf, type PolicyNode, readAs, refuse, textOf, type Value, wrong } from '../document/value.ts'
import { conditionOf } from '../model/condition.ts'
import { defined } from '../model/defined.ts'
import { compileGlob, type Glob, GLOB_FORM, pathSegments } from '../model/glob.ts'
import type { Condition, KeyPart, Match } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { MATCH, MAX_KEY_PARTS } from './grammar.ts'

/** Reads the `match` of a rule; all parts of it must hold. */
export function readMatch(rule: Fields): Match {
  const fields = openFields(fieldOf(rule, 'match'), MATCH)
  if (fields === undefined) return { when: [] }
  const path = readPath(fieldOf(fields, 'path'))
  const methods = readTexts(fieldOf(fields, 'method'), 'a method such as GET, or a list of them', (text) => /^[A-Za-z]{1,32}$/.test(text))
  const hosts = readTexts(fieldOf(fields, 'host'), 'a host such as api.example.com or *.example.com, or a list of them', isHost)
  return {
    ...defined({
      path,
      methods: methods === undefined ? undefined : new Set(methods.map((method) => method.toUpperCase())),
      hosts: hosts?.map((host) => compileGlob(host, host.toLowerCase().split('.')) as Glob),
    }),
    when: [],
  }
}

/** Reads a path pattern and normalizes it as request paths are. */
export function readPath(value: Value | undefined): Glob | undefined {
  return readAs(value, GLOB_FORM, (node) => {
    const text = textOf(node) ?? ''
    const segments = pathSegments(normalizePath(text).toLowerCase())
    // A parameter in a router's notation would count as a literal and never match, so it is refused.
    const named = segments.some((segment) => /^:|^\{.*\}$|^%7b.*%7d$/.test(segment))
    return text.startsWith('/') && !/[?#]/.test(text) && !named ? compileGlob(text, segments) : undefined
  })
}

/** Reads the `key` of a rule: a list of sources; empty for one bucket for all requests. */
export function readKey(list: Value | undefined): KeyPart[] | undefined {
  if (list === undefined) return undefined
  if (list.node.kind !== 'list') return wrong(list, `a list of ${SOURCE_FORM}; [] is one bucket for everybody`)
  const { length } = list.node.items
  if (length > MAX_KEY_PARTS) refuse(list, ` has ${length} parts: expected at most ${MAX_KEY_PARTS}`)
  const sources = [...itemsOf(list)].slice(0, MAX_KEY_PARTS).map(readSource)
  return sources.flatMap((source) => (source === undefined ? [] : [[source]]))
}

/** Reads the `when` of a tier: sources, each with the text it must have or a list of allowed texts. */
export function* readWhen(tier: Fields): Sliced<Condition[]> {
  const when = fieldOf(tier, 'when')
  const form = 'the text the value must have, or a list of texts'
  return yield* flatMapSliced(entriesOf(when), ({ key, value }) => {
    const source = readSource({ ...key, path: (when as Value).path })
    if (value.node.kind === 'map') wrong(value, form)
    if (source === undefined || value.node.kind === 'map') return []
    const condition = conditionOf(source, readTexts(value, form, () => true) ?? [])
    if (condition === undefined) wrong(value, source.text.startsWith('ip:') ? NETWORK_FORM : `a value of ${source.text}`)
    return condition ?? []
  })
}

function readSource(value: Value): Source | undefined {
  const text = sourceText(value.node)
  const source = text === undefined ? undefined : parseSource(text)
  if (source !== undefined || text === undefined) return source ?? wrong(value, SOURCE_FORM)
  return wrong({ ...value, node: { kind: 'scalar', at: value.node.at, text, type: 'text' } }, SOURCE_FORM)
}

/** The text of a source. YAML parses an unquoted `path:` in a list as a map with one empty value. */
function sourceText(node: PolicyNode): string | undefined {
  if (node.kind !== 'map' || node.fields.size !== 1) return textOf(node)
  const [[name, { value }] = ['', { value: node }]] = node.fields
  return value.kind === 'scalar' && value.type === 'null' ? `${name}:` : undefined
}

function isHost(text: string): boolean {
  return text.length <= 253 && text.split('.').length <= 30 && /^(?:(?:[\w-]+|\*\*?)\.)*(?:[\w-]+|\*\*?)$/.test(text)
}
