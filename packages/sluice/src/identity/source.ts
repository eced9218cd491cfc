import { groupAddress, parseAddress } from './address.ts'
import { isBot } from './bot.ts'
import { cookieValues } from './cookies.ts'
import { credentialReadings, CREDENTIALS } from './credentials.ts'
import { AMBIGUOUS, headerLines } from './headers.ts'
import { canonicalHost } from './host.ts'
import { decodeEscapes, pathTemplate } from './path.ts'
import { readPath } from './path-readings.ts'
import type { Request } from './request.ts'

/** Reads one value of a request; undefined if the request has none. */
export interface Source {
  /** The source as it is written in a policy, such as `header:x-api-key`. */
  readonly text: string
  /** Set if the values do not identify the caller. They are not replaced by pseudonyms. */
  readonly neutral?: true
  /** The value of a request. AMBIGUOUS if the request gives several values, even equal ones. All such requests share that value. */
  read(request: Request): string | undefined
  /** If `read` gives AMBIGUOUS: each value that an upstream may read. Undefined if `read` gives the only value. */
  alternatives?(request: Request): Alternatives | undefined
  /** Converts a text for `canonicalValue`. Absent: every text stays as it is. */
  canonical?(text: string): string | undefined
}

export type Alternatives = readonly (string | undefined)[]

export const SOURCE_FORM: string =
  'header:<name>, query:<name>, cookie:<name>, jwt:<claim>, ip:address, ip:/<prefix>, path:, path:template, method:, host:, ua:bot or const:<text>'

/** Kinds of source whose values do not identify a client, because many clients have the same values. */
const NEUTRAL: ReadonlySet<string> = new Set(['path', 'method', 'host', 'ua', 'const'])

const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/** Parses a source; undefined if the text is not one. Header names are case-insensitive, all other names are not. */
export function parseSource(text: string): Source | undefined {
  const colon = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, colon))
  const name = text.slice(colon + 1)
  const reader = readers.get(kind)?.(name)
  if (reader === undefined) return undefined
  const source = { text: kind === 'header' ? text.toLowerCase() : text, ...reader }
  return NEUTRAL.has(kind) ? { ...source, neutral: true } : source
}

/**
 * Converts a value that a person wrote to the form in which the source gives it. An IPv6 address becomes its network; a host becomes lower
 * case without port and final dots. Undefined for a value that the source can never give.
 */
export function canonicalValue(source: Source, text: string): string | undefined {
  return source.canonical === undefined ? text : source.canonical(text)
}

/** A source that gives the value of the first source that has one. AMBIGUOUS counts as a value. */
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

type Make = (value: string | undefined, request: Request) => string | undefined

/** A source that computes its values from those of another. */
export function derived(source: Source, text: string, make: Make): Source {
  const { canonical } = source
  return {
    text,
    ...(canonical === undefined ? {} : { canonical }),
    read: (request) => make(source.read(request), request),
    alternatives(request) {
      return source.alternatives?.(request)?.map((value) => make(value, request))
    },
  }
}

/** All values of a query parameter, or of the lines of a header. For credentials, every reading of a line is a value. */
export function valuesOf(kind: 'header' | 'query', name: string, request: Request): readonly string[] {
  if (kind === 'query') return parameters(request.query, name)
  const lines = headerLines(request, name)
  return CREDENTIALS.has(name) ? lines.flatMap(credentialReadings) : lines
}

/** Makes the source that this valid text names. `values` returns its values in a request, of which there may be several. */
export function repeatable(text: string, values: (request: Request) => readonly string[]): Source {
  return { ...(parseSource(text) as Source), ...manyTimes(values) }
}

type Reader = Pick<Source, 'read' | 'alternatives' | 'canonical'>

const named =
  (read: (name: string) => Reader) =>
  (name: string): Reader | undefined =>
    NAME.test(name) ? read(name) : undefined
const only =
  (expected: string, read: Reader) =>
  (name: string): Reader | undefined =>
    name === expected ? read : undefined

const readers: ReadonlyMap<string, (name: string) => Reader | undefined> = new Map([
  ['header', named((name) => header(name.toLowerCase()))],
  ['query', named((name) => manyTimes(({ query }) => parameters(query, name)))],
  ['cookie', named((name) => manyTimes(({ headers }) => cookieValues(headers, name)))],
  ['jwt', (name: string) => (/^[!-~]{1,128}$/.test(name) ? { read: ({ claims }) => claim(claims, name) } : undefined)],
  ['ip', byPrefix],
  ['path', (name: string) => (name === '' ? ofPath((path) => path) : name === 'template' ? ofPath(pathTemplate) : undefined)],
  ['method', only('', { read: ({ method }) => handledAs(method), canonical: (text) => handledAs(text.toUpperCase()) })],
  [
    'host',
    only('', {
      read: ({ host }) => host,
      alternatives: ({ hosts }) => hosts,
      canonical: (text) => (text === AMBIGUOUS ? text : canonicalHost(text)),
    }),
  ],
  [
    'ua',
    only('bot', {
      read: bot,
      alternatives: (request) => alternativesOf(bots(request)),
      canonical: (text) => (text === 'true' || text === 'false' ? text : undefined),
    }),
  ],
  ['const', (text: string) => ({ read: () => text })],
])

/**
 * The prefix lengths for IPv4 and IPv6 that a source's name gives. `address`: 32 and 64. `/24`: 24 and 64. `/48`, or any length above 32:
 * 32 and 48. `/24/48`: 24 and 48.
 */
function prefixesOf(name: string): readonly [v4: number, v6: number] | undefined {
  if (name === 'address') return [32, 64]
  const match = /^\/([1-9]\d{0,2})(?:\/([1-9]\d{0,2}))?$/.exec(name)
  if (match === null) return undefined
  const [first, second] = [Number(match[1]), match[2] === undefined ? undefined : Number(match[2])]
  const [v4, v6] = second !== undefined ? [first, second] : first <= 32 ? [first, 64] : [32, first]
  return v4 <= 32 && v6 <= 128 ? [v4, v6] : undefined
}

function byPrefix(name: string): Reader | undefined {
  const prefixes = prefixesOf(name)
  if (prefixes === undefined) return undefined
  return {
    read:
      name === 'address'
        ? ({ network }) => network
        : ({ address }) => (address === undefined ? undefined : groupAddress(address, ...prefixes)),
    // Also accepts a network as it is written in keys, such as 2001:db8:1:2::/64.
    canonical(text) {
      const [address = '', prefix] = text.split('/')
      const found = parseAddress(address) === undefined ? undefined : groupAddress(address, ...prefixes)
      return prefix === undefined || found === text.toLowerCase() ? found : undefined
    },
  }
}

/** HEAD runs the handler of GET, so it counts as GET. */
function handledAs(method: string): string {
  return method === 'HEAD' ? 'GET' : method
}

function bot(request: Request): string | undefined {
  const [first, ...others] = bots(request)
  return others.every((other) => other === first) ? first : AMBIGUOUS
}

function bots(request: Request): readonly string[] {
  return headerLines(request, 'user-agent').map((line) => String(isBot(line)))
}

function header(name: string): Reader {
  const reader = manyTimes((request) => valuesOf('header', name, request))
  return CREDENTIALS.has(name) ? { ...reader, canonical: credentialOf } : reader
}

/**
 * The reading of credentials, if backends agree on one. Undefined if not: for such credentials the source gives AMBIGUOUS.
 */
function credentialOf(text: string): string | undefined {
  const readings = credentialReadings(text)
  return readings.length === 1 ? readings[0] : undefined
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

/**
 * Reads a value from the path. Upstreams may read a path in several ways (readings). If these give different final paths, `path` is
 * AMBIGUOUS, and the value is made from that text.
 */
function ofPath(value: (path: string) => string): Reader {
  return {
    read: ({ path }) => value(path),
    alternatives: ({ readings }) => readings?.map(({ path }) => value(path)),
    canonical(text) {
      if (text === AMBIGUOUS) return text
      const { path, unreadable } = readPath(text)
      return unreadable === undefined ? value(path) : undefined
    },
  }
}

/**
 * All values of a parameter. Some parsers separate parameters at semicolons too, so a value with a semicolon also gives the text before it.
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
  return decodeEscapes(spaced) ?? spaced
}

function claim(claims: Request['claims'], name: string): string | undefined {
  const value = claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
