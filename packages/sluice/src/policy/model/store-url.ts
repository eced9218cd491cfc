import { LimiterError } from '../../errors/limiter-error.ts'
import { decodeEscapes } from '../../identity/path.ts'
import { defined } from './defined.ts'

/** A parsed store URL. Programs may support only some schemes. */
export interface StoreUrl {
  /** Lower case, without the colon; `postgresql` is read as `postgres`. */
  readonly scheme: string
  /** The URL as written; it may contain a password. */
  readonly url: string
  /** Servers in their order; none for a store in this process. */
  readonly hosts: readonly StoreHost[]
  /** The user's name, decoded; absent if the URL has none. */
  readonly username?: string
  /** The password, decoded; never print it. */
  readonly password?: string
  /** Name or number of the database; for `pglite` the folder. */
  readonly database?: string
  /** For `redis+sentinel://`: the primary's name, as the sentinels know it. */
  readonly primary?: string
  /** The query parameters, such as `sslmode`. */
  readonly parameters: ReadonlyMap<string, string>
}

/** A server of a store. */
export interface StoreHost {
  /** The name or address, without the brackets of IPv6. */
  readonly host: string
  /** The port, or the scheme's default. */
  readonly port: number
}

type Parameters = ReadonlyMap<string, readonly string[] | undefined>

interface Scheme {
  readonly name?: string
  readonly port: number
  readonly parameters: Parameters
  readonly several?: true
  readonly primary?: true
  readonly numbered?: true
  readonly local?: true
}

const anyText = (...names: readonly string[]): [string, undefined][] => names.map((name) => [name, undefined])

const TLS = 'tls'
const TLS_FILES = ['ca', 'cert', 'key']
const SERVERS: Parameters = new Map([[TLS, ['true', 'false']], ...anyText(...TLS_FILES)])
const SETTINGS = `
  host port user password sslcert sslkey sslrootcert application_name fallback_application_name client_encoding
  options statement_timeout lock_timeout query_timeout idle_in_transaction_session_timeout
`
const DATABASES: Parameters = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0']],
  ['sslnegotiation', ['postgres', 'direct']],
  ['uselibpqcompat', ['true', 'false']],
  ['concurrency', ['lock', 'compare-and-swap']],
  ...anyText(...SETTINGS.trim().split(/\s+/)),
])

const POSTGRES: Scheme = { name: 'postgres', port: 5432, local: true, parameters: DATABASES }
const SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ['redis:', { port: 6379, numbered: true, parameters: SERVERS }],
  ['rediss:', { port: 6379, numbered: true, parameters: SERVERS }],
  ['redis+cluster:', { port: 6379, several: true, numbered: true, parameters: SERVERS }],
  ['redis+sentinel:', { port: 26_379, several: true, primary: true, parameters: SERVERS }],
  ['postgres:', POSTGRES],
  ['postgresql:', POSTGRES],
])

export const STORE_FORM: string =
  'memory:, pglite:DIR, redis://HOST, rediss://HOST, redis+cluster://HOST,HOST, redis+sentinel://HOST,HOST/PRIMARY or postgres://HOST/DATABASE'

const MAX_LENGTH = 2_048
const HOST = /^(?:\[([\da-f:.]+)\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/i

/**
 * Undefined for an invalid URL. Never show a part of one: it may contain a password.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function parseStoreUrl(text: string): StoreUrl | undefined {
  requireUrl('parseStoreUrl', text)
  if (text === 'memory' || text === 'memory:') return inProcess('memory', 'memory:')
  if (text.startsWith('pglite:') && text.length <= MAX_LENGTH && storeParameterMistake(text) === undefined)
    return inProcess('pglite', text, text.slice('pglite:'.length))
  const match = /^([a-z+]+:)\/\/(?:([^@/?#]*)@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text)
  const scheme = SCHEMES.get(match?.[1] ?? '')
  if (match === null || scheme === undefined || text.length > MAX_LENGTH || /\s/.test(text)) return undefined
  if (storeParameterMistake(text) !== undefined) return undefined
  const [, written = '', credentials, authority = '', path = '', query = ''] = match
  const hosts = hostsOf(authority, scheme)
  const login = credentials === undefined ? {} : loginOf(credentials)
  const place = scheme.primary === true ? primaryOf(path) : databaseOf(path, scheme)
  if (hosts === undefined || login === undefined || place === undefined) return undefined
  const parameters = new Map(new URLSearchParams(query))
  const name = scheme.name ?? written.slice(0, -1)
  return Object.freeze({ scheme: name, url: text, hosts, ...login, ...place, parameters })
}

function inProcess(scheme: string, url: string, database?: string): StoreUrl {
  return Object.freeze({ scheme, url, hosts: [], ...defined({ database }), parameters: new Map() })
}

function hostsOf(authority: string, { port, several, local }: Scheme): StoreHost[] | undefined {
  // The URL's parameters may name a local socket.
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
  const username = decodeEscapes(colon === -1 ? text : text.slice(0, colon))
  const password = colon === -1 ? '' : decodeEscapes(text.slice(colon + 1))
  if (username === undefined || password === undefined) return undefined
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
}

function databaseOf(path: string, { numbered }: Scheme): { database?: string } | undefined {
  const database = decodeEscapes(path)
  // An @ in the path may end a password that contains a slash. In a database's name it is written %40.
  if (database === undefined || database.includes('/') || path.includes('@')) return undefined
  if (numbered === true && !/^\d{0,5}$/.test(database)) return undefined
  return database === '' ? {} : { database }
}

function primaryOf(path: string): { primary: string; database?: string } | undefined {
  const match = /^([\w.-]{1,128})(?:\/(\d{1,5}))?$/.exec(path)
  return match === null ? undefined : { primary: match[1] as string, ...defined({ database: match[2] }) }
}

/**
 * The first mistake, as text that follows the store's name in a message. A misspelt parameter could mean no encryption. Values are not
 * shown, because one may be a password.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function storeParameterMistake(url: string): string | undefined {
  requireUrl('storeParameterMistake', url)
  if (/^pglite:[^?]*\?/.test(url)) return 'has parameters behind a question mark: expected pglite:DIR, which has none'
  const [, scheme = '', query = ''] = /^([a-z+]+:)\/\/[^?#]*\?([^#]*)/.exec(url) ?? []
  const allowed = SCHEMES.get(scheme)?.parameters
  if (allowed === undefined || query === '') return undefined
  // If the query contains an @, a name here may be part of a password that contains a question mark.
  const shown = (name: string): string => (!query.includes('@') && /^[\w.-]{1,40}$/.test(name) ? ` ${name}` : '')
  const names = [...allowed.keys()].join(', ')
  const seen = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    const values = allowed.get(name)
    if (!allowed.has(name)) return `has the unknown parameter${shown(name)}: expected ${names}`
    if (seen.has(name)) return `has the parameter ${name} twice: expected it once`
    if (value === '') return `has the parameter ${name} without a value`
    if (values?.includes(value) === false) return `has another value of ${name}: expected ${values.join(' or ')}`
    seen.set(name, value)
  }
  return allowed === SERVERS ? tlsMistake(scheme, seen) : undefined
}

/** Shows no value, because it may contain a password. @throws LimiterError INVALID_OPTIONS */
function requireUrl(where: string, url: unknown): void {
  if (typeof url !== 'string') throw new LimiterError('INVALID_OPTIONS', `${where}: url is of type ${typeof url}, expected a text`)
}

function tlsMistake(scheme: string, named: ReadonlyMap<string, string>): string | undefined {
  const isEncrypted = scheme === 'rediss:'
  if (isEncrypted && named.get(TLS) === 'false') return 'has tls=false: expected rediss:// without it, or redis://'
  const file = TLS_FILES.find((name) => named.has(name))
  if (file !== undefined && !isEncrypted && named.get(TLS) !== 'true')
    return `has the parameter ${file} and no TLS: expected ${scheme === 'redis:' ? 'rediss://' : 'tls=true'}`
  if (named.has('cert') !== named.has('key')) return 'has one of the parameters cert and key: expected both or none'
  return undefined
}
