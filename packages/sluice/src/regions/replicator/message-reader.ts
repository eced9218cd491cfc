import { LimiterError } from '../../errors/limiter-error.ts'
import { shown } from '../../errors/options.ts'
import { planIn, UNITS } from '../rights/limit.ts'
import type { Gone, Roster } from '../rights/roster.ts'
import type { Run } from '../rights/state.ts'

/** How far one region has read another: the last change number, within one run (lifetime) of the other's store. */
export interface Position {
  readonly run: Run
  readonly at: number
}

/** In UTF-16 units. Keeps a page of the longest keys small. */
export const MAX_KEY_LENGTH = 512
export const MAX_NAME_LENGTH = 256

export type Fields = Readonly<Record<string, unknown>>

type Read<T> = (where: string, value: unknown) => T

/** Reads parts of a message; `where` names the part in errors. */
export interface Reader {
  fields(where: string, value: unknown, names: readonly string[]): Fields
  count(where: string, value: unknown, most?: number): number
  readonly positive: Read<number>
  readonly name: Read<string>
  readonly key: Read<string>
  list<T>(where: string, value: unknown, most: number, one: Read<T>): T[]
  tuple(where: string, value: unknown, length: number): readonly unknown[]
  one<T>(where: string, value: unknown, allowed: readonly T[]): T
  optional<T>(where: string, value: unknown, one: Read<T>): T | undefined
  readonly position: Read<Position>
  readonly policy: Read<string>
  readonly roster: Read<Roster>
}

/** Each method throws INVALID_OPTIONS for a value that no region sends. */
export function reader(message: string): Reader {
  const json = jsonReader(message)
  const { fields, name, count, refuse } = json
  return {
    ...json,
    position: (where: string, value: unknown): Position => {
      const { run, at } = fields(where, value, ['run', 'at'])
      return { run: name(`${where}.run`, run), at: count(`${where}.at`, at) }
    },
    policy: (where: string, value: unknown): string =>
      typeof value === 'string' && planIn(value) !== undefined ? value : refuse(where, value, 'the numbers of a token bucket'),
    roster: (where, value) => readRoster(json, where, value),
  }
}

interface JsonReader extends Omit<Reader, 'position' | 'policy' | 'roster'> {
  refuse(where: string, value: unknown, expected: string): never
}

function jsonReader(message: string): JsonReader {
  const refuse = (where: string, value: unknown, expected: string): never => {
    throw new LimiterError('INVALID_OPTIONS', `${message}: ${where === '' ? 'it' : where} is ${shown(value)}, expected ${expected}`)
  }
  const fields = (where: string, value: unknown, names: readonly string[]): Fields => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(where, value, `an object with ${names.join(', ')}`)
    const unknown = Object.keys(value).find((name) => !names.includes(name))
    const missing = names.find((name) => !Object.hasOwn(value, name))
    const wrong = unknown ?? missing
    if (wrong === undefined) return value as Fields
    const place = where === '' ? wrong : `${where}.${wrong}`
    throw new LimiterError('INVALID_OPTIONS', `${message}: ${place} is ${unknown === undefined ? 'missing' : 'unknown'}`)
  }
  const count = (where: string, value: unknown, most: number = Number.MAX_SAFE_INTEGER): number =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
      ? (value as number)
      : refuse(where, value, `a whole number from 0 to ${most}`)
  const text =
    (least: number, most: number) =>
    (where: string, value: unknown): string =>
      typeof value === 'string' && value.length >= least && value.length <= most
        ? value
        : refuse(where, value, `a text of ${least} to ${most} characters`)
  return {
    refuse,
    fields,
    count,
    positive: (where: string, value: unknown): number => count(where, value) || refuse(where, value, 'a whole number from 1 on'),
    name: text(1, MAX_NAME_LENGTH),
    // 0, because the key of a limit for all callers is empty.
    key: text(0, MAX_KEY_LENGTH),
    list: <T>(where: string, value: unknown, most: number, one: (where: string, value: unknown) => T): T[] =>
      Array.isArray(value) && value.length <= most
        ? value.map((item, index) => one(`${where}[${index}]`, item))
        : refuse(where, value, `a list of at most ${most}`),
    tuple: (where: string, value: unknown, length: number): readonly unknown[] =>
      Array.isArray(value) && value.length === length ? value : refuse(where, value, `a list of ${length}`),
    one: <T>(where: string, value: unknown, allowed: readonly T[]): T =>
      allowed.includes(value as T) ? (value as T) : refuse(where, value, allowed.join(' or ')),
    optional: <T>(where: string, value: unknown, one: (where: string, value: unknown) => T): T | undefined =>
      value === null ? undefined : one(where, value),
  }
}

function readRoster({ fields, name, count, list, tuple, refuse }: JsonReader, where: string, value: unknown): Roster {
  const { version, weights, gone } = fields(where, value, ['version', 'weights', 'gone'])
  if (typeof weights !== 'object' || weights === null || Array.isArray(weights)) return refuse(`${where}.weights`, weights, 'an object')
  const named = list(`${where}.weights`, Object.entries(weights), UNITS, (place, one) => {
    const [region, weight] = one as [string, unknown]
    return [name(place, region), count(`${place} ${region}`, weight, UNITS)] as const
  })
  count(
    `the sum of ${where}.weights`,
    named.reduce((sum, [, weight]) => sum + weight, 0),
    UNITS,
  )
  const pairs = list(`${where}.gone`, gone, UNITS, (place, one): Gone => {
    const [region, run] = tuple(place, one, 2)
    return [name(`${place} region`, region), name(`${place} run`, run)]
  })
  const dead = pairs.length === 0 ? {} : { gone: pairs }
  return { version: count(`${where}.version`, version), weights: new Map(named), ...dead }
}
