import { MICRO, toMicroTokens } from '../../algorithms/decimal.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { bareProblem, DURATION_FORM, parseDuration } from '../../time/duration.ts'
import type { Micros } from '../../time/micros.ts'
import type { Issues, Shown } from './issues.ts'
import { nearest } from './nearest.ts'

/** Numbers keep their text, so that decimals stay exact. */
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

/** Undefined for any other node. */
export function textOf(node: PolicyNode | undefined): string | undefined {
  return node?.kind === 'scalar' && node.type === 'text' ? node.text : undefined
}

/** Undefined for null, a list or a map. */
export function wordOf(node: PolicyNode): string | undefined {
  return node.kind === 'scalar' && node.type !== 'null' ? node.text : undefined
}

export function isEmptyMap(node: PolicyNode): boolean {
  return node.kind === 'map' && node.fields.size === 0
}

export interface Entry {
  readonly name: string
  readonly key: Value
  readonly value: Value
}

export interface Known {
  readonly names: readonly string[]
  /** Names of the format that this version does not support. */
  readonly later?: readonly string[]
  /** Whether unknown names are only warned of, unless parsing is strict. */
  readonly lenient?: boolean
}

export const DECIMAL_FORM = 'a number above 0 with at most six decimals'
/** The most tokens whose millionths are exact in a double. */
const MAX_DECIMAL = Math.floor(Number.MAX_SAFE_INTEGER / MICRO)
const MAX_TEXTS = 1_000

/** A node of a policy. A method that finds a wrong value reports it and returns undefined. */
export class Value {
  readonly node: PolicyNode
  readonly path: string
  readonly issues: Issues

  constructor(node: PolicyNode, path: string, issues: Issues) {
    this.node = node
    this.path = path
    this.issues = issues
  }

  at(path: string): Value {
    return new Value(this.node, path, this.issues)
  }

  with(node: PolicyNode): Value {
    return new Value(node, this.path, this.issues)
  }

  /** Reports `<path><what>` as an issue. */
  refuse(what: string, more?: Shown): undefined {
    this.issues.add(this.node.at, this.path, this.path + what, more)
  }

  wrong(allowed: string): undefined {
    const value = show(this.node)
    const message = `${this.path === '' ? 'the policy' : this.path} is ${value}: expected ${allowed}`
    this.issues.add(this.node.at, this.path, message, { value, allowed })
  }

  warn(what: string): undefined {
    this.issues.warn(this.node.at, this.path + what)
  }

  /** An ignored part is an issue only in strict parsing. */
  overlook(what: string): undefined {
    return this.issues.strict ? this.refuse(what) : this.warn(what)
  }

  get(name: string): Value | undefined {
    const node = this.node.kind === 'map' ? this.node.fields.get(name)?.value : undefined
    return node === undefined ? undefined : new Value(node, below(this.path, name), this.issues)
  }

  /** As `get`, but a missing field is reported. */
  require(name: string, allowed: string): Value | undefined {
    return this.get(name) ?? this.at(below(this.path, name)).refuse(` is missing: expected ${allowed}`, { allowed })
  }

  /** Yields no items for a value that is not a list, or for more than `most` items. Both are reported if `allowed` is passed. */
  *items(allowed?: string, most: number = Infinity): Generator<Value, void, undefined> {
    if (this.node.kind !== 'list' || this.node.items.length > most) return allowed === undefined ? undefined : this.wrong(allowed)
    for (const [index, item] of this.node.items.entries()) yield new Value(item, `${this.path}[${index}]`, this.issues)
  }

  /** For a map whose names the policy's author chose. Any other value is reported. */
  *entries(): Generator<Entry, void, undefined> {
    const { node, issues } = this
    if (node.kind !== 'map') return this.wrong('a map')
    for (const [name, { at, value }] of node.fields) {
      const path = join(this.path, name)
      const key = new Value({ kind: 'scalar', at, text: name, type: 'text' }, path, issues)
      yield { name, key, value: new Value(value, path, issues) }
    }
  }

  /** Unknown names are refused, with the nearest known one. */
  open({ names, later = [], lenient = false }: Known): Value | undefined {
    const { node, issues } = this
    if (node.kind !== 'map') return this.wrong('a map')
    for (const [name, { at }] of node.fields) {
      if (names.includes(name)) continue
      const [path, allowed] = [join(this.path, name), names.join(', ')]
      const near = nearest(name, names)
      const hint = near === undefined ? '' : `did you mean ${near}? `
      if (later.includes(name)) issues.add(at, path, `${path} is not yet supported`)
      else if (lenient && !issues.strict) issues.warn(at, `${path} is unknown and has no effect: ${hint}known are ${allowed}`)
      else issues.add(at, path, `${path} is unknown: ${hint}allowed are ${allowed}`, { value: quoted(name), allowed })
    }
    return this
  }

  as<T>(allowed: string, convert: (node: PolicyNode) => T | undefined): T | undefined {
    return convert(this.node) ?? this.wrong(allowed)
  }

  text(allowed: string, accept: (text: string) => boolean = (text) => text !== ''): string | undefined {
    const text = textOf(this.node)
    return text !== undefined && accept(text) ? text : this.wrong(allowed)
  }

  /** A wrong text is not shown: it may contain a password. */
  hiddenText(allowed: string, accept: (text: string) => boolean): string | undefined {
    const text = textOf(this.node)
    return text !== undefined && accept(text) ? text : this.refuse(` is not ${allowed}`, { allowed })
  }

  choice<const T extends string>(options: readonly T[]): T | undefined {
    // Some YAML parsers read an unquoted off or on as a boolean.
    const word = this.node.kind === 'scalar' ? this.node.text : undefined
    return options.find((option) => option === word) ?? this.wrong(options.join(', '))
  }

  flag(): boolean | undefined {
    const { node } = this
    return node.kind === 'scalar' && node.type === 'boolean' ? node.text.toLowerCase() === 'true' : this.wrong('true or false')
  }

  /** As text, so that it stays exact. */
  decimal(): string | undefined {
    const { node } = this
    if (node.kind === 'scalar' && (toMicroTokens(node.text) ?? 0) > 0) return node.text
    const isTooLarge = node.kind === 'scalar' && /^\d+(?:\.\d{1,6})?$/.test(node.text) && Number(node.text) > MAX_DECIMAL
    return this.wrong(isTooLarge ? `a number of at most ${MAX_DECIMAL}` : DECIMAL_FORM)
  }

  duration(): Micros | undefined {
    return this.as(`${DURATION_FORM}, at most a hundred years`, (node) => {
      if (node.kind !== 'scalar') return undefined
      const micros = attempt(() => parseDuration(node.type === 'number' ? Number(node.text) : node.text))
      return micros instanceof LimiterError ? undefined : micros
    })
  }

  whole(least: number, most: number): number | undefined {
    return this.as(`a whole number from ${least} to ${most}`, (node) => {
      const isWhole = node.kind === 'scalar' && node.type === 'number' && /^\d{1,15}$/.test(node.text)
      return isWhole && Number(node.text) >= least && Number(node.text) <= most ? Number(node.text) : undefined
    })
  }

  /** Wrong texts are reported and left out. */
  texts(allowed: string, accept: (text: string) => boolean): string[] {
    const items = this.node.kind === 'list' ? [...this.items()] : [this]
    if (items.length === 0) this.refuse(` is an empty list: expected ${allowed}`, { allowed })
    if (items.length > MAX_TEXTS) this.refuse(` has ${items.length} entries: expected at most ${MAX_TEXTS}`)
    return items.flatMap((item) => {
      const text = wordOf(item.node)
      return text !== undefined && accept(text) ? text : (item.wrong(allowed) ?? [])
    })
  }
}

/** A number counts as milliseconds, which few authors intend. */
export function warnOfBare(value: Value | undefined): void {
  if (value?.node.kind !== 'scalar' || value.node.type !== 'number') return
  const problem = bareProblem(Number(value.node.text))
  if (problem !== undefined) value.warn(`: ${problem}; it is taken for milliseconds`)
}

/** Refuses a name that an earlier map has. */
export function uniqueNames(): (at: Value, name: string) => void {
  const paths = new Map<string, string>()
  return (at, name) => {
    const earlier = paths.get(name)
    if (earlier === undefined) paths.set(name, at.path)
    else {
      const place = (at.get('name') ?? at).at(`${at.path}.name`)
      place.refuse(` is ${JSON.stringify(name)}: expected a name of its own, ${earlier} has it`)
    }
  }
}

const MAX_SHOWN_LENGTH = 60

function show(node: PolicyNode): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map'
  if (node.type === 'null') return 'empty'
  const short = node.text.length > MAX_SHOWN_LENGTH ? `${node.text.slice(0, MAX_SHOWN_LENGTH)}...` : node.text
  return node.type === 'text' ? JSON.stringify(short) : short
}

/** `a.b`, or `a["/b c"]` for a name that is no plain word. */
export function join(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${quoted(name)}]`
  return below(path, name)
}

export function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** Cut to the length that messages show. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))
}
