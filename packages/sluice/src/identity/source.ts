import { groupAddress, parseAddress } from './address.ts'
import { isBot } from './bot.ts'
import { cookieValues } from './cookies.ts'
import { credentialReadings, CREDENTIALS } from './credentials.ts'
import { AMBIGUOUS, headerLines } from './headers.ts'
import { canonicalHost } from './host.ts'
import { decodeEscapes, pathTemplate } from './path.ts'
import { readPath } from './path-readings.ts'
import type { Request } from './request.ts'

/** Reads one value of a request. */
export interface Source {
  /** As written in a policy, such as `header:x-api-key`. */
  readonly text: string
  /** Set if no pseudonym replaces the values, because they identify nobody. */
  readonly neutral?: true
  /** AMBIGUOUS for several values; all such requests share it. */
  read(request: Request): string | undefined
  /** Each value that an upstream may read, if there are several. */
  alternatives?(request: Request): Alternatives | undefined
  /** For `canonicalValue`; absent: every text stays as it is. */
  canonical?(text: string): string | undefined
}

export type Alternatives = readonly (string | undefined)[]

export const SOURCE_FORM: string =
  'header:<name>, query:<name>, cookie:<name>, jwt:<claim>, ip:address, ip:/<prefix>, path:, path:template, method:, host:, ua:bot or const:<text>'

/** Many clients share the values of these kinds. */
const NEUTRAL: ReadonlySet<string> = new Set(['path', 'method', 'host', 'ua', 'const'])

const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/** Only header names are case-insensitive. */
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
 * Converts a text to the form that the source gives: an IPv6 address to its network, a host to lower case without port. Undefined if the
 * source can never give it.
 */
export function canonicalValue(source: Source, text: string): string | undefined {
  return source.canonical === undefined ? text : source.canonical(text)
}

/** AMBIGUOUS counts as a value. */
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

/** For credentials, all values that backends may read. */
export function valuesOf(kind: 'header' | 'query', name: string, request: Request): readonly string[] {
  if (kind === 'query') return parameters(request.query, name)
  const lines = headerLines(request, name)
  return CREDENTIALS.has(name) ? lines.flatMap(credentialReadings) : lines
}

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

/** `address`: 32 and 64. `/24`: 24 and 64. `/48`, or any length above 32: 32 and 48. `/24/48`: 24 and 48. */
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
    // Also a network as in keys, such as 2001:db8:1:2::/64.
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

/** Undefined if backends disagree: then the source gives AMBIGUOUS. */
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

/** Some parsers separate parameters at semicolons too, so the text before a semicolon is a value too. */
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
