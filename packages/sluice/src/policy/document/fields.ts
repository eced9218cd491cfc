import { toMicroTokens } from '../../algorithms/decimal.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { DURATION_FORM, parseDuration } from '../../time/duration.ts'
import type { Micros } from '../../time/micros.ts'
import { nearest } from './nearest.ts'
import { type MapNode, type PolicyNode, textOf, wordOf } from './node.ts'
import { below, fieldOf, itemsOf, join, openMap, quoted, readAs, refuse, type Value, wrong } from './value.ts'

/** A map of a policy being read. Each reader returns undefined for a missing field, and for a wrong one, which it reports. */
export interface Fields extends Value {
  readonly node: MapNode
  get(name: string): Value | undefined
  /** As `get`, but a missing field is reported. */
  require(name: string, allowed: string): Value | undefined
  open(name: string, known: Known): Fields | undefined
  text(name: string, allowed: string, accept?: (text: string) => boolean): string | undefined
  choice<const T extends string>(name: string, options: readonly T[]): T | undefined
  flag(name: string): boolean | undefined
  /** An exact decimal above 0 as its text. */
  decimal(name: string): string | undefined
  duration(name: string): Micros | undefined
  /** A whole number from `least` to `most`. */
  whole(name: string, least: number, most: number): number | undefined
  /** A text, or a list of at least one text; each must be accepted. */
  texts(name: string, allowed: string, accept: (text: string) => boolean): string[] | undefined
}

export interface Known {
  readonly names: readonly string[]
  /** Part of the format, but refused in this version. */
  readonly later?: readonly string[]
  /** Warns of other names instead of refusing them. */
  readonly lenient?: boolean
}

/** Opens a map with known names. It refuses every other name and suggests the nearest known one. */
export function openFields(value: Value, { names, later = [], lenient = false }: Known): Fields | undefined {
  const node = openMap(value)
  if (node === undefined) return undefined
  for (const [name, { at }] of node.fields) {
    if (names.includes(name)) continue
    const [path, allowed] = [join(value.path, name), names.join(', ')]
    const near = nearest(name, names)
    const hint = near === undefined ? '' : `did you mean ${near}? `
    if (later.includes(name)) value.issues.add(at, path, `${path} is not yet supported`)
    else if (lenient) value.issues.warn(at, `${path} is unknown and has no effect: ${hint}known are ${allowed}`)
    else value.issues.add(at, path, `${path} is unknown: ${hint}allowed are ${allowed}`, { value: quoted(name), allowed })
  }
  return fieldsOf({ node, path: value.path, issues: value.issues })
}

export const DECIMAL_FORM = 'a number above 0 with at most six decimals'

function fieldsOf(map: Value & { readonly node: MapNode }): Fields {
  const get: Fields['get'] = (name) => fieldOf(map, name)
  return {
    // Not spread: a literal with a spread takes ten times as long, and there is one for each map.
    node: map.node,
    path: map.path,
    issues: map.issues,
    get,
    open(name, known) {
      const value = get(name)
      return value === undefined ? undefined : openFields(value, known)
    },
    require(name, allowed) {
      const value = get(name)
      if (value === undefined) refuse({ ...map, path: below(map.path, name) }, ` is missing: expected ${allowed}`, { allowed })
      return value
    },
    text: (name, allowed, accept = (found) => found !== '') => readAs(get(name), allowed, (found) => accepted(textOf(found), accept)),
    choice(name, options) {
      const value = get(name)
      // Some parsers read an unquoted off or on as a boolean; here a word is its text.
      const word = value?.node.kind === 'scalar' ? value.node.text : undefined
      const found = options.find((option) => option === word)
      return value === undefined ? undefined : (found ?? wrong(value, options.join(', ')))
    },
    flag: (name) => readAs(get(name), 'true or false', flagOf),
    decimal: (name) => readDecimal(get(name)),
    duration: (name) => readAs(get(name), DURATION_FORM, durationOf),
    whole(name, least, most) {
      const value = get(name)
      if (value === undefined) return undefined
      const { node } = value
      const number = node.kind === 'scalar' && node.type === 'number' && /^\d{1,15}$/.test(node.text) ? Number(node.text) : Number.NaN
      return number >= least && number <= most ? number : wrong(value, `a whole number from ${least} to ${most}`)
    },
    texts(name, allowed, accept) {
      const found = get(name)
      return found === undefined ? undefined : readTexts(found, allowed, accept)
    },
  }
}

const MAX_TEXTS = 1_000

/** Reads a text, or a list of at least one. Texts that are not accepted are reported and omitted. */
export function readTexts(value: Value, allowed: string, accept: (text: string) => boolean): string[] {
  const items = value.node.kind === 'list' ? [...itemsOf(value)] : [value]
  if (items.length === 0) refuse(value, ` is an empty list: expected ${allowed}`, { allowed })
  if (items.length > MAX_TEXTS) refuse(value, ` has ${items.length} entries: expected at most ${MAX_TEXTS}`)
  return items.flatMap((item) => readAs(item, allowed, (node) => accepted(wordOf(node), accept)) ?? [])
}

/** An exact decimal above 0 as its text. */
export function readDecimal(value: Value | undefined): string | undefined {
  return readAs(value, DECIMAL_FORM, (node) => {
    const micro = node.kind === 'scalar' ? toMicroTokens(node.text) : undefined
    return node.kind === 'scalar' && micro !== undefined && micro > 0 ? node.text : undefined
  })
}

function accepted(text: string | undefined, accept: (text: string) => boolean): string | undefined {
  return text !== undefined && accept(text) ? text : undefined
}

function flagOf(node: PolicyNode): boolean | undefined {
  return node.kind === 'scalar' && node.type === 'boolean' ? node.text.toLowerCase() === 'true' : undefined
}

function durationOf(node: PolicyNode): Micros | undefined {
  if (node.kind !== 'scalar') return undefined
  const micros = attempt(() => parseDuration(node.type === 'number' ? Number(node.text) : node.text))
  return micros instanceof LimiterError ? undefined : micros
}
