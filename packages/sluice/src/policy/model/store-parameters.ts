import { LimiterError } from '../../errors/limiter-error.ts'

/** Parameters of a store's URL: their names, and their allowed values if not any text is allowed. */
type Parameters = ReadonlyMap<string, readonly string[] | undefined>

const TLS = 'tls'
const TLS_FILES = ['ca', 'cert', 'key']
const SERVERS: Parameters = new Map([[TLS, ['true', 'false']], ...TLS_FILES.map((name): [string, undefined] => [name, undefined])])
const ANY_TEXT = `
  host port user password sslcert sslkey sslrootcert application_name fallback_application_name client_encoding
  options statement_timeout lock_timeout query_timeout idle_in_transaction_session_timeout
`
  .trim()
  .split(/\s+/)
const DATABASES: Parameters = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0']],
  ['sslnegotiation', ['postgres', 'direct']],
  ['uselibpqcompat', ['true', 'false']],
  ...ANY_TEXT.map((name): [string, undefined] => [name, undefined]),
])

const SCHEMES: ReadonlyMap<string, Parameters> = new Map([
  ['redis://', SERVERS],
  ['rediss://', SERVERS],
  ['redis+cluster://', SERVERS],
  ['redis+sentinel://', SERVERS],
  ['postgres://', DATABASES],
  ['postgresql://', DATABASES],
])
/** The scheme already implies TLS. */
const ENCRYPTED = 'rediss://'
const CLEAR = 'redis://'

/**
 * The mistake in the parameters of a store's URL, as text to follow its name; undefined if there is none. A misspelt parameter could mean
 * a connection without encryption. Values are not shown, because one may be a password.
 * @throws LimiterError INVALID_OPTIONS for a value that is not a text
 */
export function storeParameterMistake(url: string): string | undefined {
  requireUrl('storeParameterMistake', url)
  if (/^pglite:[^?]*\?/.test(url)) return 'has parameters behind a question mark: expected pglite:DIR, which has none'
  const [, scheme = '', query = ''] = /^([a-z+]+:\/\/)[^?#]*\?([^#]*)/.exec(url) ?? []
  const allowed = SCHEMES.get(scheme)
  if (allowed === undefined || query === '') return undefined
  // An @ may end a password that contains a question mark: then no part of it is a parameter name.
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

/**
 * Checks that a URL is a text. The message shows only the type of other values, which may contain a password.
 * @throws LimiterError INVALID_OPTIONS
 */
export function requireUrl(where: string, url: unknown): void {
  if (typeof url !== 'string') throw new LimiterError('INVALID_OPTIONS', `${where}: url is of type ${typeof url}, expected a text`)
}

function tlsMistake(scheme: string, given: ReadonlyMap<string, string>): string | undefined {
  if (scheme === ENCRYPTED && given.get(TLS) === 'false') return `has tls=false: expected ${ENCRYPTED} without it, or ${CLEAR}`
  const encrypted = scheme === ENCRYPTED || given.get(TLS) === 'true'
  const file = TLS_FILES.find((name) => given.has(name))
  if (file !== undefined && !encrypted) return `has the parameter ${file} and no TLS: expected ${scheme === CLEAR ? ENCRYPTED : 'tls=true'}`
  if (given.has('cert') !== given.has('key')) return 'has one of the parameters cert and key: expected both or none'
  return undefined
}
