import type { Issues, Shown } from './issues.ts'

/** A value of a policy with its offset in the text. Numbers keep their text, so that decimals stay exact. */
export type PolicyNode = ScalarNode | ListNode | MapNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly at: number
  readonly text: string
  readonly type: 'text' | 'number' | 'boolean' | 'null'
}

export interface ListNode {
  readonly kind: 'list'
  readonly at: number
  readonly items: readonly PolicyNode[]
}

export interface MapNode {
  readonly kind: 'map'
  readonly at: number
  readonly fields: ReadonlyMap<string, Field>
}

export interface Field {
  /** Offset of the name. */
  readonly at: number
  readonly value: PolicyNode
}

/** A node of a policy being read, the path that messages name it by, and the issues to report to. */
export interface Value {
  readonly node: PolicyNode
  readonly path: string
  readonly issues: Issues
}

/** Reports `<path><what>` as an issue. */
export function refuse({ node, path, issues }: Value, what: string, more?: Shown): undefined {
  issues.add(node.at, path, path + what, more)
}

/** Reports `<path> is <value>: expected <allowed>` as an issue. */
export function wrong({ node, path, issues }: Value, allowed: string): undefined {
  const value = show(node)
  issues.add(node.at, path, `${path === '' ? 'the policy' : path} is ${value}: expected ${allowed}`, { value, allowed })
}

/** Warns of `<path><what>`. */
export function warn({ node, path, issues }: Value, what: string): void {
  issues.warn(node.at, path + what)
}

/** Converts a value. One that gives undefined is reported; a missing one is not. */
export function readAs<T>(value: Value | undefined, allowed: string, convert: (node: PolicyNode) => T | undefined): T | undefined {
  return value === undefined ? undefined : (convert(value.node) ?? wrong(value, allowed))
}

/** A field of a map by a name of the format, which is a plain word; undefined if there is no map or no such field. */
export function fieldOf(map: Value | undefined, name: string): Value | undefined {
  const node = map?.node.kind === 'map' ? map.node.fields.get(name)?.value : undefined
  return map === undefined || node === undefined ? undefined : { node, path: below(map.path, name), issues: map.issues }
}

/** The values of a list with their paths; none for another value. */
export function* itemsOf(list: Value | undefined): Generator<Value, void, undefined> {
  if (list?.node.kind !== 'list') return
  const { node, path, issues } = list
  for (const [index, item] of node.items.entries()) yield { node: item, path: `${path}[${index}]`, issues }
}

/** A name that the author of a policy chose, and its value. `key` is the name as a text of its own. */
export interface Entry {
  readonly name: string
  readonly key: Value
  readonly value: Value
}

/** The entries of a map whose names the author chose; another value is reported and gives none. */
export function* entriesOf(map: Value | undefined): Generator<Entry, void, undefined> {
  const fields = map === undefined ? undefined : openMap(map)?.fields
  if (map === undefined || fields === undefined) return
  const { issues } = map
  for (const [name, { at, value }] of fields) {
    const path = join(map.path, name)
    yield { name, key: { node: { kind: 'scalar', at, text: name, type: 'text' }, path, issues }, value: { node: value, path, issues } }
  }
}

export function openMap(value: Value): MapNode | undefined {
  return value.node.kind === 'map' ? value.node : wrong(value, 'a map')
}

const MAX_SHOWN_LENGTH = 60

/** A value as a message shows it: short, in one line. */
function show(node: PolicyNode): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map'
  if (node.type === 'null') return 'empty'
  const short = node.text.length > MAX_SHOWN_LENGTH ? `${node.text.slice(0, MAX_SHOWN_LENGTH)}...` : node.text
  return node.type === 'text' ? JSON.stringify(short) : short
}

/** `a.b`, or `a["/b c"]` for a name that is not a plain word. */
export function join(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${quoted(name)}]`
  return below(path, name)
}

/** As `join`, for a plain word. */
export function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** A text in quotes, cut to the length that messages show. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))
}

/** The text of a text; undefined for any other node. */
export function textOf(node: PolicyNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.type === 'text' ? node.text : undefined
}

/** The text of a text, a number or a truth value; undefined for any other node. */
export function wordOf(node: PolicyNode): string | undefined {
  return node.kind === 'scalar' && node.type !== 'null' ? node.text : undefined
}

export function isEmptyMap(node: PolicyNode): boolean {
  return node.kind === 'map' && node.fields.size === 0
}
