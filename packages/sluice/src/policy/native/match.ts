import { NETWORK_FORM } from '../../identity/network.ts'
import { normalizePath } from '../../identity/path.ts'
import { parseSource, type Source, SOURCE_FORM } from '../../identity/source.ts'
import { conditionOf } from '../model/condition.ts'
import { type Fields, openFields, openMap, readTexts } from '../document/fields.ts'
import { compileGlob, type Glob, GLOB_FORM, pathSegments } from '../model/glob.ts'
import { type Issues, join } from '../document/issues.ts'
import { MATCH, MAX_KEY_PARTS } from './grammar.ts'
import type { PolicyNode } from '../document/node.ts'
import type { Condition, KeyPart, Match } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

/** Reads the `match` of a rule; all parts of it must hold. */
export function readMatch(rule: Fields, issues: Issues): Match {
  const node = rule.node('match')
  const fields = node === undefined ? undefined : openFields(node, rule.pathOf('match'), MATCH, issues)
  if (fields === undefined) return { when: [] }
  const pathNode = fields.node('path')
  const path = pathNode === undefined ? undefined : readPath(pathNode, fields.pathOf('path'), issues)
  const methods = fields.texts('method', 'a method such as GET, or a list of them', (text) => /^[A-Za-z]{1,32}$/.test(text))
  const hosts = fields.texts('host', 'a host such as api.example.com or *.example.com, or a list of them', isHost)
  return {
    ...(path === undefined ? {} : { path }),
    ...(methods === undefined ? {} : { methods: new Set(methods.map((method) => method.toUpperCase())) }),
    ...(hosts === undefined ? {} : { hosts: hosts.map((host) => compileGlob(host, host.toLowerCase().split('.')) as Glob) }),
    when: [],
  }
}

/** Reads a path pattern and normalizes it as request paths are. */
export function readPath(node: PolicyNode, path: string, issues: Issues): Glob | undefined {
  const text = node.kind === 'scalar' && node.type === 'text' ? node.text : ''
  const segments = pathSegments(normalizePath(text).toLowerCase())
  // A parameter in a router's notation would count as a literal and never match, so it is refused.
  const named = segments.some((segment) => /^:|^\{.*\}$|^%7b.*%7d$/.test(segment))
  const glob = text.startsWith('/') && !/[?#]/.test(text) && !named ? compileGlob(text, segments) : undefined
  if (glob === undefined) issues.wrong(node, path, GLOB_FORM)
  return glob
}

/** Reads the `key` of a rule: a list of sources; empty for one bucket for all requests. */
export function readKey(rule: Fields, issues: Issues): KeyPart[] | undefined {
  const node = rule.node('key')
  if (node === undefined) return undefined
  if (node.kind !== 'list') {
    issues.wrong(node, rule.pathOf('key'), `a list of ${SOURCE_FORM}; [] is one bucket for everybody`)
    return undefined
  }
  if (node.items.length > MAX_KEY_PARTS)
    issues.add(node.at, rule.pathOf('key'), `${rule.pathOf('key')} has ${node.items.length} parts: expected at most ${MAX_KEY_PARTS}`)
  return node.items.slice(0, MAX_KEY_PARTS).flatMap((item, index) => {
    const source = readSource(item, `${rule.pathOf('key')}[${index}]`, issues)
    return source === undefined ? [] : [[source]]
  })
}

/** Reads the `when` of a tier: sources, each with the text it must have or a list of allowed texts. */
export function* readWhen(tier: Fields, issues: Issues): Sliced<Condition[]> {
  const node = tier.node('when')
  const map = node === undefined ? undefined : openMap(node, tier.pathOf('when'), issues)
  if (map === undefined) return []
  return yield* flatMapSliced(map.fields, ([name, { at, value }]) => {
    const path = join(tier.pathOf('when'), name)
    const source = readSource({ kind: 'scalar', at, text: name, type: 'text' }, tier.pathOf('when'), issues)
    if (value.kind === 'map') issues.wrong(value, path, 'the text the value must have, or a list of texts')
    if (source === undefined || value.kind === 'map') return []
    const texts = readTexts(value, path, 'the text the value must have, or a list of texts', () => true, issues)
    const condition = conditionOf(source, texts)
    if (condition === undefined) issues.wrong(value, path, source.text.startsWith('ip:') ? NETWORK_FORM : `a value of ${source.text}`)
    return condition === undefined ? [] : [condition]
  })
}

function readSource(node: PolicyNode, path: string, issues: Issues): Source | undefined {
  const text = sourceText(node)
  const source = text === undefined ? undefined : parseSource(text)
  if (source === undefined) issues.wrong(text === undefined ? node : { kind: 'scalar', at: node.at, text, type: 'text' }, path, SOURCE_FORM)
  return source
}

/** The text of a source. YAML parses an unquoted `path:` in a list as a map with one empty value. */
function sourceText(node: PolicyNode): string | undefined {
  if (node.kind === 'scalar') return node.type === 'text' ? node.text : undefined
  if (node.kind !== 'map' || node.fields.size !== 1) return undefined
  const [[name, { value }] = ['', { value: node }]] = node.fields
  return value.kind === 'scalar' && value.type === 'null' ? `${name}:` : undefined
}

function isHost(text: string): boolean {
  return text.length <= 253 && text.split('.').length <= 30 && /^(?:(?:[\w-]+|\*\*?)\.)*(?:[\w-]+|\*\*?)$/.test(text)
}
