import { normalizePath, normalizePathExactly } from '../../identity/path.ts'
import { type PathReading, someReading } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import { textOf, type Value } from '../document/value.ts'
import { defined } from '../model/defined.ts'
import { compileGlob, type Glob, pathSegments } from '../model/glob.ts'
import type { Condition, Match } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'
import { readList } from './tolerated.ts'

const NAMES = ['pathExact', 'pathPrefix', 'methods', 'hosts']

/** Case matters. The prefix `/v1` matches paths below `/v1` but not `/v1` itself; the exact path `/v1` does not match `/v1/`. */
export function* readSelector(value: Value): Sliced<Match> {
  const fields = value.open({ names: NAMES, lenient: true })
  if (fields === undefined) return { when: [] }
  const anchors = ['pathExact', 'pathPrefix'].flatMap((name) => readAnchor(fields, name) ?? [])
  if (anchors.length === 0) fields.warn(' has no path: its rules never match; a pathPrefix of / matches every path')
  // The path index takes one pattern for a rule. A rule with an exact path and a prefix is therefore tested at every request.
  const path = anchors.length === 1 ? anchors[0]?.glob : undefined
  const methods = yield* readMethods(fields.get('methods'))
  const hosts = yield* readHosts(fields.get('hosts'))
  const when = anchors.some(({ everything }) => everything) ? [] : [pathIs(anchors)]
  return { ...defined({ path, methods, hosts }), when }
}

interface Anchor {
  readonly text: string
  readonly everything: boolean
  /** Pattern for the path index; may match more paths than `matches`. */
  readonly glob: Glob | undefined
  matches(path: string): boolean
}

function readAnchor(fields: Value, name: string): Anchor | undefined {
  const value = fields.get(name)
  if (value === undefined) return undefined
  const text = textOf(value.node) ?? ''
  if (!text.startsWith('/')) return value.overlook(' does not begin with / and is ignored: expected a path such as /v1')
  if (/[?#]/.test(text)) return value.wrong('a path such as /v1, without query and fragment')
  const segments = pathSegments(normalizePath(text).toLowerCase())
  if (name === 'pathExact') {
    const exact = normalizePathExactly(text)
    const glob = compileGlob(exact, segments)
    return { text: `exactly ${exact}`, everything: false, glob, matches: (path) => path === exact }
  }
  const plain = normalizePath(text)
  const prefix = plain === '/' ? '/' : `${plain}/`
  const everything = prefix === '/'
  return {
    text: `below ${prefix}`,
    everything,
    glob: everything ? undefined : compileGlob(`${prefix}*/**`, [...segments, '*', '**']),
    matches: (path) => path.length > prefix.length && path.startsWith(prefix),
  }
}

function pathIs(anchors: readonly Anchor[]): Condition {
  const value = anchors.length === 0 ? 'one that the selector names' : anchors.map(({ text }) => text).join(' or ')
  const matches = ({ exactPath }: PathReading): boolean => anchors.some((anchor) => anchor.matches(exactPath))
  const test = (request: Request): boolean => someReading(request, matches)
  return { source: { text: 'path', read: (request) => (test(request) ? value : undefined) }, value, test }
}

function* readMethods(value: Value | undefined): Sliced<ReadonlySet<string> | undefined> {
  const list = value === undefined ? undefined : readList(value, 'a list of methods such as GET')
  if (list?.node.kind !== 'list') return undefined
  if (list.node.items.length === 0) list.warn(' is empty: its rules never match')
  const methods = yield* flatMapSliced(list.items(), (item) => {
    const text = textOf(item.node) ?? ''
    if (text === '') item.wrong('a method such as GET')
    else if (text !== text.toUpperCase()) item.warn(` ${text} never matches: methods are upper case`)
    return text
  })
  return new Set(methods)
}

const HOST_FORM = 'a hostname such as api.example.com, without scheme, path or wildcard'

function* readHosts(list: Value | undefined): Sliced<Glob[] | undefined> {
  if (list === undefined) return undefined
  if (list.node.kind !== 'list' || list.node.items.length === 0) return list.wrong('a non-empty array of hostnames')
  return yield* flatMapSliced(list.items(), (item) => {
    const text = (textOf(item.node) ?? '').trim().toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    const glob = text.length <= 253 && /^[\w-]+(?:\.[\w-]+)*$/.test(text) ? compileGlob(text, text.split('.')) : undefined
    if (glob === undefined) item.wrong(HOST_FORM)
    return glob ?? []
  })
}
