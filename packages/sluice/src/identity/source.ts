import { groupAddress } from './address.ts'
import { isBot } from './bot.ts'
import { headerText } from './client-address.ts'
import { pathTemplate } from './path-template.ts'
import type { Request } from './request.ts'

/** Where a value of a request comes from; undefined where the request has none. */
export interface Source {
  /** As a policy writes it, such as `header:x-api-key`. */
  readonly text: string
  /** It says nothing about who asks: no pseudonym stands for its values. */
  readonly neutral?: true
  read(request: Request): string | undefined
}

export const SOURCE_FORM: string =
  'header:<name>, query:<name>, cookie:<name>, jwt:<claim>, ip:address, ip:/<prefix>, path:, path:template, method:, host:, ua:bot or const:<text>'

/** The kinds of source whose values are the same for many clients by nature. */
const NEUTRAL: ReadonlySet<string> = new Set(['path', 'method', 'host', 'ua', 'const'])

const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/** The source that a text names, or undefined. Header names are case-insensitive, the others are not. */
export function parseSource(text: string): Source | undefined {
  const colon = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, colon))
  const name = text.slice(colon + 1)
  const read = readers.get(kind)?.(name)
  if (read === undefined) return undefined
  return { text: kind === 'header' ? text.toLowerCase() : text, ...(NEUTRAL.has(kind) ? { neutral: true } : {}), read }
}

/** The first of several sources that has a value. */
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
  }
}

/** All values of a repeatable source: every one of a query's parameters, every field of a header. */
export function valuesOf(kind: 'header' | 'query', name: string, request: Request): readonly string[] {
  if (kind === 'query') return parameters(request.query, name)
  const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined
  return typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

type Read = Source['read']

const named =
  (read: (name: string) => Read) =>
  (name: string): Read | undefined =>
    NAME.test(name) ? read(name) : undefined
const only =
  (expected: string, read: Read) =>
  (name: string): Read | undefined =>
    name === expected ? read : undefined

const readers: ReadonlyMap<string, (name: string) => Read | undefined> = new Map([
  ['header', named((name) => header(name.toLowerCase()))],
  [
    'query',
    named(
      (name) =>
        ({ query }) =>
          parameters(query, name)[0],
    ),
  ],
  ['cookie', named((name) => (request) => cookie(valuesOf('header', 'cookie', request).join(';'), name))],
  ['jwt', (name: string) => (/^[!-~]{1,128}$/.test(name) ? ({ claims }) => claim(claims, name) : undefined)],
  ['ip', (name: string) => (name === 'address' ? ({ network }) => network : byPrefix(name))],
  ['path', (name: string) => (name === '' ? ({ path }) => path : name === 'template' ? ({ path }) => pathTemplate(path) : undefined)],
  // HEAD runs the handler of GET, so it counts as one.
  ['method', only('', ({ method }) => (method === 'HEAD' ? 'GET' : method))],
  ['host', only('', ({ host }) => host)],
  ['ua', only('bot', bot)],
  ['const', (text: string) => () => text],
])

/**
 * The bits that tell addresses apart, of IPv4 and of IPv6. `address`: all, and 64. `/24`: the first 24 of IPv4, and 64. `/48`, or any above
 * 32: IPv4 alone, the first 48 of IPv6. `/24/48`: both. Undefined for what is none of these.
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

/** `true` or `false`; absent without a User-Agent. */
function bot({ headers }: Request): string | undefined {
  const text = headerText(headers, 'user-agent')
  return text === undefined ? undefined : String(isBot(text))
}

function header(name: string): Read {
  return ({ headers }) => headerText(headers, name)
}

function parameters(query: string, name: string): string[] {
  const values: string[] = []
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    const found = decode(equals === -1 ? pair : pair.slice(0, equals))
    if (found === name && pair !== '') values.push(equals === -1 ? '' : decode(pair.slice(equals + 1)))
  }
  return values
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

function cookie(text: string, name: string): string | undefined {
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=')
    if (equals !== -1 && pair.slice(0, equals).trim() === name)
      return pair
        .slice(equals + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1')
  }
  return undefined
}

function claim(claims: Request['claims'], name: string): string | undefined {
  const value = claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
