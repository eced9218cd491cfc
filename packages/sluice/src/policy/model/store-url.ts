import { defined } from './defined.ts'
import { requireUrl, storeParameterMistake } from './store-parameters.ts'

/** The parsed URL of a store. A program may support only some of the schemes. */
export interface StoreUrl {
  /** The text before the first colon, in lower case; `postgresql` is read as `postgres`. */
  readonly scheme: string
  /** As written; it may contain a password. */
  readonly url: string
  /** Servers in their order; none for a store in this process. */
  readonly hosts: readonly StoreHost[]
  readonly username?: string
  readonly password?: string
  /** Name or number of the database; for `pglite` the folder. */
  readonly database?: string
  /** For `redis+sentinel://`: the primary's name, as the sentinels know it. */
  readonly primary?: string
  /** The query parameters, such as `sslmode`. */
  readonly parameters: ReadonlyMap<string, string>
}

export interface StoreHost {
  /** Without the brackets of IPv6. */
  readonly host: string
  readonly port: number
}

interface Scheme {
  readonly name: string
  readonly port: number
  /** Whether the URL may name several servers. */
  readonly several?: true
  /** Whether the path names a primary instead of a database. */
  readonly primary?: true
  /** Whether a database is a number instead of a name. */
  readonly numbered?: true
  /** Whether the URL may omit the server. */
  readonly local?: true
}

const SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ...['redis://', 'rediss://'].map((scheme) => entry(scheme, { port: 6379, numbered: true })),
  entry('redis+cluster://', { port: 6379, several: true, numbered: true }),
  entry('redis+sentinel://', { port: 26_379, several: true, primary: true }),
  entry('postgres://', { port: 5432, local: true }),
  ['postgresql', { name: 'postgres', port: 5432, local: true }],
])

function entry(scheme: string, more: Omit<Scheme, 'name'>): [string, Scheme] {
  const name = scheme.slice(0, -'://'.length)
  return [name, { name, ...more }]
}

export const STORE_FORM: string =
  'memory:, pglite:DIR, redis://HOST, rediss://HOST, redis+cluster://HOST,HOST, redis+sentinel://HOST,HOST/PRIMARY or postgres://HOST/DATABASE'

const MAX_LENGTH = 2_048
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/i

/**
 * Parses a store's URL; undefined if it is not one. Never show any part of an invalid one: it may contain a password.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function parseStoreUrl(text: string): StoreUrl | undefined {
  requireUrl('parseStoreUrl', text)
  if (text === 'memory' || text === 'memory:') return inProcess('memory', 'memory:')
  if (text.startsWith('pglite:') && text.length <= MAX_LENGTH && storeParameterMistake(text) === undefined)
    return inProcess('pglite', text, text.slice('pglite:'.length))
  const match = /^([a-z+]+):\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text)
  const scheme = SCHEMES.get(match?.[1] ?? '')
  if (match === null || scheme === undefined || text.length > MAX_LENGTH || /\s/.test(text)) return undefined
  if (storeParameterMistake(text) !== undefined) return undefined
  const [, , credentials, authority = '', path = '', query = ''] = match
  const hosts = hostsOf(authority, scheme)
  const login = credentials === undefined ? {} : loginOf(credentials)
  const place = scheme.primary === true ? primaryOf(path) : databaseOf(path, scheme)
  if (hosts === undefined || login === undefined || place === undefined) return undefined
  const parameters = new Map(new URLSearchParams(query))
  return Object.freeze({ scheme: scheme.name, url: text, hosts, ...login, ...place, parameters })
}

function inProcess(scheme: string, url: string, database?: string): StoreUrl {
  return Object.freeze({ scheme, url, hosts: [], ...defined({ database }), parameters: new Map() })
}

function hostsOf(authority: string, { port, several, local }: Scheme): StoreHost[] | undefined {
  // A database on this machine, reached by a socket that its parameters name.
  if (authority === '' && local === true) return []
  const hosts = authority.split(',').map((text): StoreHost | undefined => {
    const match = HOST.exec(text)
    const found = match?.[3] === undefined ? port : Number(match[3])
    return match === null || found < 1 || found > 65_535 ? undefined : { host: (match[1] ?? match[2]) as string, port: found }
  })
  if (hosts.length > 64 || (hosts.length > 1 && several !== true)) return undefined
  return hosts.every((host) => host !== undefined) ? hosts : undefined
}

function loginOf(text: string): { username?: string; password?: string } | undefined {
  const colon = text.indexOf(':')
  const username = decode(colon === -1 ? text : text.slice(0, colon))
  const password = colon === -1 ? '' : decode(text.slice(colon + 1))
  if (username === undefined || password === undefined) return undefined
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
}

function databaseOf(path: string, { numbered }: Scheme): { database?: string } | undefined {
  const database = decode(path)
  if (database === undefined || database.includes('/')) return undefined
  // A password that contains a slash may look like a database.
  if (numbered === true && !/^\d{0,5}$/.test(database)) return undefined
  return database === '' ? {} : { database }
}

/** `PRIMARY` or `PRIMARY/0`. */
function primaryOf(path: string): { primary: string; database?: string } | undefined {
  const match = /^([\w.-]{1,128})(?:\/(\d{1,5}))?$/.exec(path)
  return match === null ? undefined : { primary: match[1] as string, ...defined({ database: match[2] }) }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
