import { LimiterError } from '../../errors/limiter-error.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import { DURATION_FORM, parseDuration } from '../../time/duration.ts'
import type { Micros } from '../../time/micros.ts'
import type { MapNode, PolicyNode } from './node.ts'
import { type Issues, join } from './issues.ts'
import { nearest } from './nearest.ts'

/** A map of a policy being read. Each reader returns undefined for a missing field, and for a wrong one, which it reports. */
export interface Fields {
  readonly at: number
  readonly path: string
  node(name: string): PolicyNode | undefined
  pathOf(name: string): string
  text(name: string, allowed: string, accept?: (text: string) => boolean): string | undefined
  choice<const T extends string>(name: string, options: readonly T[], later?: readonly string[]): T | undefined
  flag(name: string): boolean | undefined
  /** An exact decimal above 0 as its text. */
  decimal(name: string): string | undefined
  duration(name: string): Micros | undefined
  /** A whole number from `least` to `most`. */
  whole(name: string, least: number, most: number): number | undefined
  /** A text, or a list of at least one text; each must be accepted. */
  texts(name: string, allowed: string, accept: (text: string) => boolean): string[] | undefined
  /** Reports a missing field. */
  require(name: string, allowed: string): boolean
}

export interface Known {
  readonly names: readonly string[]
  /** Part of the format, but refused in this version. */
  readonly later?: readonly string[]
  /** Warns of other names instead of refusing them. */
  readonly lenient?: boolean
}

/** Opens a map with known names. It refuses every other name and suggests the nearest known one. */
export function openFields(node: PolicyNode, path: string, known: Known, issues: Issues): Fields | undefined {
  const map = openMap(node, path, issues)
  if (map === undefined) return undefined
  for (const [name, { at }] of map.fields) {
    if (known.names.includes(name)) continue
    if (known.later?.includes(name) === true) issues.notYet(at, join(path, name))
    else refuseName(at, join(path, name), name, known, issues)
  }
  return fieldsOf(map, path, issues)
}

/** Opens a map whose names the author chose. */
export function openMap(node: PolicyNode, path: string, issues: Issues): MapNode | undefined {
  if (node.kind === 'map') return node
  issues.wrong(node, path, 'a map')
  return undefined
}

export const DECIMAL_FORM = 'a number above 0 with at most six decimals'

/** The readers of a map's fields, without a check of its names. */
export function fieldsOf(map: MapNode, path: string, issues: Issues): Fields {
  const pathOf = (name: string): string => join(path, name)
  const node = (name: string): PolicyNode | undefined => map.fields.get(name)?.value
  const text: Fields['text'] = (name, allowed, accept = (found) => found !== '') => {
    const found = node(name)
    if (found === undefined) return undefined
    if (found.kind === 'scalar' && found.type === 'text' && accept(found.text)) return found.text
    issues.wrong(found, pathOf(name), allowed)
    return undefined
  }
  return {
    at: map.at,
    path,
    node,
    pathOf,
    text,
    choice<const T extends string>(name: string, options: readonly T[], later: readonly string[] = []) {
      const found = node(name)
      // Some parsers read an unquoted off or on as a boolean; here a word is its text.
      const word = found?.kind === 'scalar' ? found.text : undefined
      if (found === undefined || options.some((option) => option === word)) return word as T | undefined
      if (word !== undefined && later.includes(word)) issues.notYet(found.at, `${pathOf(name)} ${word}`)
      else issues.wrong(found, pathOf(name), options.join(', '))
      return undefined
    },
    flag(name) {
      const found = node(name)
      if (found === undefined) return undefined
      if (found.kind === 'scalar' && found.type === 'boolean') return found.text.toLowerCase() === 'true'
      issues.wrong(found, pathOf(name), 'true or false')
      return undefined
    },
    decimal(name) {
      const found = node(name)
      if (found === undefined) return undefined
      const micro = found.kind === 'scalar' ? toMicroTokens(found.text) : undefined
      if (found.kind === 'scalar' && micro !== undefined && micro > 0) return found.text
      issues.wrong(found, pathOf(name), DECIMAL_FORM)
      return undefined
    },
    duration(name) {
      const found = node(name)
      if (found === undefined) return undefined
      const read = found.kind === 'scalar' ? duration(found.type === 'number' ? Number(found.text) : found.text) : undefined
      if (read === undefined) issues.wrong(found, pathOf(name), DURATION_FORM)
      return read
    },
    whole(name, least, most) {
      const found = node(name)
      if (found === undefined) return undefined
      const value = found.kind === 'scalar' && found.type === 'number' && /^\d{1,15}$/.test(found.text) ? Number(found.text) : Number.NaN
      if (value >= least && value <= most) return value
      issues.wrong(found, pathOf(name), `a whole number from ${least} to ${most}`)
      return undefined
    },
    texts(name, allowed, accept) {
      const found = node(name)
      return found === undefined ? undefined : readTexts(found, pathOf(name), allowed, accept, issues)
    },
    require(name, allowed) {
      if (node(name) !== undefined) return true
      issues.add(map.at, pathOf(name), `${pathOf(name)} is missing: expected ${allowed}`, { allowed })
      return false
    },
  }
}

const MAX_TEXTS = 1_000

/** Reads a text, or a list of at least one. Texts that are not accepted are reported and omitted. */
export function readTexts(node: PolicyNode, path: string, allowed: string, accept: (text: string) => boolean, issues: Issues): string[] {
  const items = node.kind === 'list' ? node.items : [node]
  if (items.length === 0) issues.add(node.at, path, `${path} is an empty list: expected ${allowed}`, { allowed })
  if (items.length > MAX_TEXTS) issues.add(node.at, path, `${path} has ${items.length} entries: expected at most ${MAX_TEXTS}`)
  return items.flatMap((item, index) => {
    if (item.kind === 'scalar' && item.type !== 'null' && accept(item.text)) return [item.text]
    issues.wrong(item, node.kind === 'list' ? `${path}[${index}]` : path, allowed)
    return []
  })
}

function refuseName(at: number, path: string, name: string, { names, lenient = false }: Known, issues: Issues): void {
  const near = nearest(name, names)
  const hint = near === undefined ? '' : `did you mean ${near}? `
  const allowed = names.join(', ')
  if (lenient) return issues.warn(at, `${path} is unknown and has no effect: ${hint}known are ${allowed}`)
  issues.add(at, path, `${path} is unknown: ${hint}allowed are ${allowed}`, { value: JSON.stringify(name.slice(0, 60)), allowed })
}

function duration(value: string | number): Micros | undefined {
  try {
    return parseDuration(value)
  } catch (error) {
    if (error instanceof LimiterError) return undefined
    throw error
  }
}
