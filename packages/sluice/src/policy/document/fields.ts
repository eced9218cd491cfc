import type { AnyLimit } from '../../algorithms/algorithm.ts'
import { toMicroTokens } from '../../algorithms/decimal.ts'
import type { Rate } from '../../algorithms/rate.ts'
import { tokenBucket } from '../../algorithms/token-bucket.ts'
import { attempt, LimiterError } from '../../errors/limiter-error.ts'
import { DURATION_FORM, parseDuration } from '../../time/duration.ts'
import type { Micros } from '../../time/micros.ts'
import { nearest } from './nearest.ts'
import { below, fieldOf, itemsOf, join, type MapNode, openMap, quoted, readAs, refuse, textOf, type Value, wordOf, wrong } from './value.ts'

/** A map of a policy, whose names were checked. */
export interface Fields extends Value {
  readonly node: MapNode
}

export interface Known {
  readonly names: readonly string[]
  /** Part of the format, but refused in this version. */
  readonly later?: readonly string[]
  /** Warns of other names instead of refusing them. */
  readonly lenient?: boolean
}

/** Opens a map with known names; undefined if there is none. It refuses every other name and suggests the nearest known one. */
export function openFields(value: Value | undefined, { names, later = [], lenient = false }: Known): Fields | undefined {
  const node = value === undefined ? undefined : openMap(value)
  if (value === undefined || node === undefined) return undefined
  const { issues } = value
  for (const [name, { at }] of node.fields) {
    if (names.includes(name)) continue
    const [path, allowed] = [join(value.path, name), names.join(', ')]
    const near = nearest(name, names)
    const hint = near === undefined ? '' : `did you mean ${near}? `
    if (later.includes(name)) issues.add(at, path, `${path} is not yet supported`)
    else if (lenient) issues.warn(at, `${path} is unknown and has no effect: ${hint}known are ${allowed}`)
    else issues.add(at, path, `${path} is unknown: ${hint}allowed are ${allowed}`, { value: quoted(name), allowed })
  }
  return { node, path: value.path, issues }
}

/** As `fieldOf`, but a missing field is reported. */
export function requiredField(fields: Fields, name: string, allowed: string): Value | undefined {
  return fieldOf(fields, name) ?? refuse({ ...fields, path: below(fields.path, name) }, ` is missing: expected ${allowed}`, { allowed })
}

// Each reader gives undefined for a missing value, and for a wrong one, which it reports.

export function readText(
  value: Value | undefined,
  allowed: string,
  accept: (text: string) => boolean = (text) => text !== '',
): string | undefined {
  return readAs(value, allowed, (node) => accepted(textOf(node), accept))
}

export function readChoice<const T extends string>(value: Value | undefined, options: readonly T[]): T | undefined {
  if (value === undefined) return undefined
  // Some parsers read an unquoted off or on as a boolean; here a word is its text.
  const word = value.node.kind === 'scalar' ? value.node.text : undefined
  return options.find((option) => option === word) ?? wrong(value, options.join(', '))
}

export function readFlag(value: Value | undefined): boolean | undefined {
  return readAs(value, 'true or false', (node) =>
    node.kind === 'scalar' && node.type === 'boolean' ? node.text.toLowerCase() === 'true' : undefined,
  )
}

export const DECIMAL_FORM = 'a number above 0 with at most six decimals'

/** Reads an exact decimal above 0 as its text. */
export function readDecimal(value: Value | undefined): string | undefined {
  return readAs(value, DECIMAL_FORM, (node) => {
    return node.kind === 'scalar' && (toMicroTokens(node.text) ?? 0) > 0 ? node.text : undefined
  })
}

export function readDuration(value: Value | undefined): Micros | undefined {
  return readAs(value, DURATION_FORM, (node) => {
    if (node.kind !== 'scalar') return undefined
    const micros = attempt(() => parseDuration(node.type === 'number' ? Number(node.text) : node.text))
    return micros instanceof LimiterError ? undefined : micros
  })
}

/** Reads a whole number from `least` to `most`. */
export function readWhole(value: Value | undefined, least: number, most: number): number | undefined {
  return readAs(value, `a whole number from ${least} to ${most}`, (node) => {
    const number = node.kind === 'scalar' && node.type === 'number' && /^\d{1,15}$/.test(node.text) ? Number(node.text) : Number.NaN
    return number >= least && number <= most ? number : undefined
  })
}

/** Refuses, of maps in their order, a name that an earlier one has. */
export function uniqueNames(): (at: Value, name: string) => void {
  const paths = new Map<string, string>()
  return (at, name) => {
    const earlier = paths.get(name)
    if (earlier === undefined) paths.set(name, at.path)
    else {
      const place = { ...(fieldOf(at, 'name') ?? at), path: `${at.path}.name` }
      refuse(place, ` is ${JSON.stringify(name)}: expected a name of its own, ${earlier} has it`)
    }
  }
}

const MAX_TEXTS = 1_000

/** Reads a text, or a list of at least one. Texts that are not accepted are reported and omitted. */
export function readTexts(value: Value | undefined, allowed: string, accept: (text: string) => boolean): string[] | undefined {
  if (value === undefined) return undefined
  const items = value.node.kind === 'list' ? [...itemsOf(value)] : [value]
  if (items.length === 0) refuse(value, ` is an empty list: expected ${allowed}`, { allowed })
  if (items.length > MAX_TEXTS) refuse(value, ` has ${items.length} entries: expected at most ${MAX_TEXTS}`)
  return items.flatMap((item) => readAs(item, allowed, (node) => accepted(wordOf(node), accept)) ?? [])
}

function accepted(text: string | undefined, accept: (text: string) => boolean): string | undefined {
  return text !== undefined && accept(text) ? text : undefined
}

export const RATE_FORM = 'tokens per duration, such as 10/s'

/**
 * Compiles a token bucket from exact texts. It reports an error at the value that causes it.
 * @param burst a validated decimal text
 */
export function readBucket(rate: Rate, burst: string, at: { readonly rate: Value; readonly burst: Value }): AnyLimit | undefined {
  const limit = attempt(() => tokenBucket({ rate, burst }))
  if (!(limit instanceof LimiterError)) return limit
  return limit.code === 'INVALID_RATE' ? wrong(at.rate, RATE_FORM) : refuse(at.burst, `: ${limit.message}`)
}
