import { normalizePath, normalizePathExactly } from '../../identity/path.ts'
import { type PathReading, someReading } from '../../identity/path-readings.ts'
import type { Request } from '../../identity/request.ts'
import { readItems } from './list.ts'
import type { PolicyNode } from '../document/node.ts'
import { type Fields, openFields } from '../document/fields.ts'
import { compileGlob, type Glob, pathSegments } from '../model/glob.ts'
import type { Issues } from '../document/issues.ts'
import type { Condition, Match } from '../model/rule.ts'
import { flatMapSliced, type Sliced } from '../model/sliced.ts'

const NAMES = ['pathExact', 'pathPrefix', 'methods', 'hosts']

export interface SelectorOptions {
  readonly lenient: boolean
  /** Reports what the format ignores: as a warning, or as an issue in strict mode. */
  readonly overlook: (at: number, path: string, message: string) => void
}

/**
 * Reads the `selector` of a policy. It compares paths by segments, with their case. `/v1` as a prefix matches paths below it but not
 * itself; `/v1` as an exact path does not match `/v1/`. Queries, empty and dot segments and needless encoding have no effect.
 */
export function* readSelector(node: PolicyNode, path: string, options: SelectorOptions, issues: Issues): Sliced<Match> {
  const fields = openFields(node, path, { names: NAMES, lenient: options.lenient }, issues)
  if (fields === undefined) return { when: [] }
  const anchors = ['pathExact', 'pathPrefix'].flatMap((name) => readAnchor(fields, name, options, issues) ?? [])
  if (anchors.length === 0) issues.warn(fields.at, `${path} has no path: its rules never match; a pathPrefix of / matches every path`)
  // A path index takes one pattern for each rule, so two anchors are tested at every request.
  const glob = anchors.length === 1 ? anchors[0]?.glob : undefined
  const methods = yield* readMethods(fields, options.lenient, issues)
  const hosts = yield* readHosts(fields, issues)
  return {
    ...(glob === undefined ? {} : { path: glob }),
    ...(methods === undefined ? {} : { methods }),
    ...(hosts === undefined ? {} : { hosts }),
    when: anchors.some(({ everything }) => everything) ? [] : [pathIs(anchors)],
  }
}

interface Anchor {
  readonly text: string
  readonly everything: boolean
  /** A pattern for an index; it may match more paths. */
  readonly glob: Glob | undefined
  matches(path: string): boolean
}

function readAnchor(fields: Fields, name: string, { overlook }: SelectorOptions, issues: Issues): Anchor | undefined {
  const node = fields.node(name)
  if (node === undefined) return undefined
  const at = fields.pathOf(name)
  if (node.kind !== 'scalar' || node.type !== 'text' || !node.text.startsWith('/')) {
    overlook(node.at, at, `${at} does not begin with / and is ignored: expected a path such as /v1`)
    return undefined
  }
  if (/[?#]/.test(node.text)) {
    issues.wrong(node, at, 'a path such as /v1, without query and fragment')
    return undefined
  }
  const segments = pathSegments(normalizePath(node.text).toLowerCase())
  if (name === 'pathExact') {
    const exact = normalizePathExactly(node.text)
    return { text: `exactly ${exact}`, everything: false, glob: compileGlob(exact, segments), matches: (path) => path === exact }
  }
  const plain = normalizePath(node.text)
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

function* readMethods(fields: Fields, lenient: boolean, issues: Issues): Sliced<ReadonlySet<string> | undefined> {
  const node = fields.node('methods')
  const items = node === undefined ? undefined : readItems(node, fields.pathOf('methods'), 'a list of methods such as GET', lenient, issues)
  if (node === undefined || items === undefined) return undefined
  if (items.length === 0) issues.warn(node.at, `${fields.pathOf('methods')} is empty: its rules never match`)
  const methods = yield* flatMapSliced(items, (item, index) => {
    const path = `${fields.pathOf('methods')}[${index}]`
    if (item.kind !== 'scalar' || item.type !== 'text' || item.text === '') {
      issues.wrong(item, path, 'a method such as GET')
      return []
    }
    if (item.text !== item.text.toUpperCase()) issues.warn(item.at, `${path} ${item.text} never matches: methods are upper case`)
    return [item.text]
  })
  return new Set(methods)
}

const HOSTS_FORM = 'a non-empty array of hostnames'
const HOST_FORM = 'a hostname such as api.example.com, without scheme, path or wildcard'

function* readHosts(fields: Fields, issues: Issues): Sliced<Glob[] | undefined> {
  const node = fields.node('hosts')
  if (node === undefined) return undefined
  if (node.kind !== 'list' || node.items.length === 0) {
    issues.wrong(node, fields.pathOf('hosts'), HOSTS_FORM)
    return undefined
  }
  return yield* flatMapSliced(node.items, (item, index) => {
    const text =
      item.kind === 'scalar' && item.type === 'text' ? item.text.trim().toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '') : ''
    const glob = text.length <= 253 && /^[\w-]+(?:\.[\w-]+)*$/.test(text) ? compileGlob(text, text.split('.')) : undefined
    if (glob === undefined) issues.wrong(item, `${fields.pathOf('hosts')}[${index}]`, HOST_FORM)
    return glob === undefined ? [] : [glob]
  })
}
