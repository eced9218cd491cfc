import { groupAddress } from './address.ts'
import { AMBIGUOUS } from './ambiguous.ts'
import { isBot } from './bot.ts'
import { cookieValues } from './cookies.ts'
import { credentialReadings, CREDENTIALS } from './credentials.ts'
import { headerLines, headerValue } from './header-lines.ts'
import { pathTemplate } from './path-template.ts'
import type { Request } from './request.ts'

/** Reads one value of a request; undefined if the request has none. */
export interface Source {
  /** As in a policy, such as `header:x-api-key`. */
  readonly text: string
  /** Set if the values do not identify the caller. They are not replaced by pseudonyms. */
  readonly neutral?: true
  /** AMBIGUOUS if the request gives several values, whatever they are. All such requests share it. */
  read(request: Request): string | undefined
  /** If the value is AMBIGUOUS: each value that an upstream may take. Undefined if `read` gives the only value. */
  alternatives?(request: Request): Alternatives | undefined
}

export type Alternatives = readonly (string | undefined)[]

export const SOURCE_FORM: string =
  'header:<name>, query:<name>, cookie:<name>, jwt:<claim>, ip:address, ip:/<prefix>, path:, path:template, method:, host:, ua:bot or const:<text>'

/** Kinds of source whose values many clients share by nature. */
const NEUTRAL: ReadonlySet<string> = new Set(['path', 'method', 'host', 'ua', 'const'])

const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/** Parses a source; undefined if the text is not one. Header names are case-insensitive, the others are not. */
export function parseSource(text: string): Source | undefined {
  const colon = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, colon))
  const name = text.slice(colon + 1)
  const reader = readers.get(kind)?.(name)
  if (reader === undefined) return undefined
  return { text: kind === 'header' ? text.toLowerCase() : text, ...(NEUTRAL.has(kind) ? { neutral: true } : {}), ...reader }
}

/** The first of several sources that has a value; an ambiguous value counts. */
export function firstOf(sources: readonly Source[]): Source {
  return {
    text: sources.map((source) => source.text).join(' or '),
    read(request) {
      for (const source of sources) {
        const value = source.read(request)
        if (value !== undefined) return value
      }
      return undefined
    },
    alternatives(request) {
      const found: (string | undefined)[] = []
      for (const source of sources) {
        const several = source.alternatives?.(request)
        const values = several ?? [source.read(request)]
        found.push(...values.filter((value) => value !== undefined))
        if (!values.includes(undefined)) return found.length < 2 ? undefined : found
      }
      return found.length === 0 ? undefined : [...found, undefined]
    },
  }
}

/** A source that computes its values from those of another. */
export function derived(source: Source, text: string, make: (value: string | undefined, request: Request) => string | undefined): Source {
  return {
    text,
    read: (request) => make(source.read(request), request),
    alternatives(request) {
      return source.alternatives?.(request)?.map((value) => make(value, request))
    },
  }
}

/**
 * All values of a repeatable source: every query parameter of the name, every line of a header, and credentials in every way that backends
 * read them.
 */
export function valuesOf(kind: 'header' | 'query', name: string, request: Request): readonly string[] {
  if (kind === 'query') return parameters(request.query, name)
  const lines = headerLines(request, name)
  return CREDENTIALS.has(name) ? lines.flatMap(credentialReadings) : lines
}

/** A source of values that may occur more than once. */
export function repeatable(text: string, values: (request: Request) => readonly string[]): Source {
  return { text, ...manyTimes(values) }
}

type Reader = Pick<Source, 'read' | 'alternatives'>
type Read = Source['read']

const named =
  (read: (name: string) => Reader) =>
  (name: string): Reader | undefined =>
    NAME.test(name) ? read(name) : undefined
const only =
  (expected: string, read: Reader) =>
  (name: string): Reader | undefined =>
    name === expected ? read : undefined
const single = (read: Read | undefined): Reader | undefined => (read === undefined ? undefined : { read })

const readers: ReadonlyMap<string, (name: string) => Reader | undefined> = new Map([
  ['header', named((name) => header(name.toLowerCase()))],
  ['query', named((name) => manyTimes(({ query }) => parameters(query, name)))],
  ['cookie', named((name) => manyTimes(({ headers }) => cookieValues(headers, name)))],
  ['jwt', (name: string) => single(/^[!-~]{1,128}$/.test(name) ? ({ claims }) => claim(claims, name) : undefined)],
  ['ip', (name: string) => single(name === 'address' ? ({ network }) => network : byPrefix(name))],
  ['path', (name: string) => (name === '' ? ofPath((path) => path) : name === 'template' ? ofPath(pathTemplate) : undefined)],
  // HEAD runs the handler of GET, so it counts as GET.
  ['method', only('', { read: ({ method }) => (method === 'HEAD' ? 'GET' : method) })],
  ['host', only('', { read: ({ host }) => host, alternatives: ({ hosts }) => hosts })],
  ['ua', only('bot', { read: bot, alternatives: (request) => alternativesOf(bots(request)) })],
  ['const', (text: string) => ({ read: () => text })],
])

/**
 * Prefix lengths for IPv4 and IPv6. `address`: 32 and 64. `/24`: 24 for IPv4, and 64. `/48`, or any above 32: 32 for IPv4, 48 for IPv6.
 * `/24/48`: both. Undefined for any other text.
 */
export function prefixesOf(name: string): readonly [v4: number, v6: number] | undefined {
  if (name === 'address') return [32, 64]
  const match = /^\/([1-9]\d{0,2})(?:\/([1-9]\d{0,2}))?$/.exec(name)
  if (match === null) return undefined
  const [first, second] = [Number(match[1]), match[2] === undefined ? undefined : Number(match[2])]
  const [v4, v6] = second !== undefined ? [first, second] : first <= 32 ? [first, 64] : [32, first]
  return v4 <= 32 && v6 <= 128 ? [v4, v6] : undefined
}

function byPrefix(name: string): Read | undefined {
  const prefixes = prefixesOf(name)
  if (prefixes === undefined) return undefined
  return ({ address }) => (address === undefined ? undefined : groupAddress(address, ...prefixes))
}

/** `true` or `false`; absent without a User-Agent, ambiguous if two User-Agents differ. */
function bot(request: Request): string | undefined {
  const [first, ...others] = bots(request)
  return others.every((other) => other === first) ? first : AMBIGUOUS
}

function bots(request: Request): readonly string[] {
  return headerLines(request, 'user-agent').map((line) => String(isBot(line)))
}

function header(name: string): Reader {
  if (CREDENTIALS.has(name)) return manyTimes((request) => valuesOf('header', name, request))
  return {
    read: (request) => headerValue(request, name),
    alternatives: (request) => alternativesOf(headerLines(request, name)),
  }
}

function manyTimes(values: (request: Request) => readonly string[]): Reader {
  return {
    read(request) {
      const found = values(request)
      return found.length > 1 ? AMBIGUOUS : found[0]
    },
    alternatives: (request) => alternativesOf(values(request)),
  }
}

function alternativesOf(values: readonly string[]): Alternatives | undefined {
  return values.length > 1 ? values : undefined
}

/** Reads one value for all readings of a path. If their final paths differ, `path` is AMBIGUOUS and they share its value. */
function ofPath(value: (path: string) => string): Reader {
  return {
    read: ({ path }) => value(path),
    alternatives: ({ readings }) => readings?.map(({ path }) => value(path)),
  }
}

/**
 * The values of a parameter. Some readers separate parameters at semicolons too, so a value with a semicolon gives two: the whole, and the
 * text before it.
 */
function parameters(query: string, name: string): string[] {
  const values: string[] = []
  for (const pair of query.split('&')) {
    if (pair.includes(';')) for (const part of pair.split(';')) addParameter(values, part, name)
    addParameter(values, pair, name)
  }
  return values
}

function addParameter(values: string[], pair: string, name: string): void {
  const equals = pair.indexOf('=')
  const found = decode(equals === -1 ? pair : pair.slice(0, equals))
  if (found === name && pair !== '') values.push(equals === -1 ? '' : decode(pair.slice(equals + 1)))
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

function claim(claims: Request['claims'], name: string): string | undefined {
  const value = claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
