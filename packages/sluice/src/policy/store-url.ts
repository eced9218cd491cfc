import { requireUrl, storeParameterMistake } from './store-parameters.ts'

/** Where a store is, read from its URL. Whether a program can open it is the program's to say. */
export interface StoreUrl {
  /** What stands before the first colon, in lower case; `postgresql` is read as `postgres`. */
  readonly scheme: string
  /** As it was written; it may hold a password. */
  readonly url: string
  /** Servers in their order; none for a store in this process. */
  readonly hosts: readonly StoreHost[]
  readonly username?: string
  readonly password?: string
  /** Name or number of the database; for `pglite` the folder. */
  readonly database?: string
  /** For `redis+sentinel://`: the name that the sentinels know the primary by. */
  readonly primary?: string
  /** What stands behind the question mark, such as `sslmode`. */
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
  /** Whether several servers may be named. */
  readonly several?: true
  /** Whether the path names a primary instead of a database. */
  readonly primary?: true
  /** Whether a database has a number instead of a name. */
  readonly numbered?: true
  /** Whether a server may be left out. */
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

/** The parts of a store's URL, or undefined for what is not a URL of a store. Nothing of a wrong one may be shown: it may hold a password. @throws LimiterError INVALID_OPTIONS for what is not a text */
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
  return Object.freeze({ scheme, url, hosts: [], ...(database === undefined ? {} : { database }), parameters: new Map() })
}

function hostsOf(authority: string, { port, several, local }: Scheme): StoreHost[] | undefined {
  // A database on this machine, by a socket that its own parameters name.
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
  // A password with a slash in it may look like one.
  if (numbered === true && !/^\d{0,5}$/.test(database)) return undefined
  return database === '' ? {} : { database }
}

/** `PRIMARY` or `PRIMARY/0`. */
function primaryOf(path: string): { primary: string; database?: string } | undefined {
  const match = /^([\w.-]{1,128})(?:\/(\d{1,5}))?$/.exec(path)
  return match === null ? undefined : { primary: match[1] as string, ...(match[2] === undefined ? {} : { database: match[2] }) }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
