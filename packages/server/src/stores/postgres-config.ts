import type { ClientConfig } from 'pg'
import { CommandFailure, EXIT } from '../cli/failure.ts'
import { withoutPassword } from './store-name.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'

const FILES = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' }
const TLS_PARAMETERS: ReadonlySet<string> = new Set([...Object.values(FILES), 'ssl', 'sslmode', 'sslnegotiation', 'uselibpqcompat'])

/**
 * The configuration of the client. This function reads the files that the URL names, because the client would read them without a bound
 * and would wait for pipes. It then removes their parameters and those that set TLS, because the client prefers the URL's values.
 * @throws CommandFailure exit 3 for an invalid URL, for files that cannot be used, and for sslmode=verify-ca without a CA
 */
export function configOf(url: string, folder: string): ClientConfig {
  // The client accepts URLs of other forms, whose parameters this function has not checked.
  const [, place, query, hash = ''] = /^(postgres(?:ql)?:\/\/[^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? []
  const name = withoutPassword(url)
  if (place === undefined)
    throw new CommandFailure(EXIT.usage, `store ${name} is not the URL of a store: expected postgres://HOST:PORT/DATABASE`)
  const parameters = new Map(new URLSearchParams(query ?? ''))
  if (!Object.values(FILES).some((file) => parameters.has(file))) return { connectionString: url }
  const ssl = tlsOf(parameters, readTlsFiles(parameters, FILES, folder), name)
  const rest = (query ?? '').split('&').filter((pair) => ![...new URLSearchParams(pair).keys()].some((key) => TLS_PARAMETERS.has(key)))
  const negotiation = parameters.get('sslnegotiation')
  return {
    connectionString: `${place}${rest.length === 0 ? '' : `?${rest.join('&')}`}${hash}`,
    ssl,
    ...(negotiation === undefined ? {} : { sslnegotiation: negotiation as 'postgres' | 'direct' }),
  }
}

/**
 * TLS options of `sslmode` as the client reads it: without `uselibpqcompat`, every mode but `disable` and `no-verify` is `verify-full`.
 */
function tlsOf(parameters: ReadonlyMap<string, string>, files: TlsFiles, name: string): ClientConfig['ssl'] {
  const [mode, compatible] = [parameters.get('sslmode'), parameters.get('uselibpqcompat') === 'true']
  if (mode === 'disable') return false
  if (!compatible) return mode === 'no-verify' ? { ...files, rejectUnauthorized: false } : { ...files }
  if (mode === 'prefer' || (mode === 'require' && files.ca === undefined)) return { ...files, rejectUnauthorized: false }
  if (mode === 'verify-ca' && files.ca === undefined)
    throw new CommandFailure(EXIT.usage, `store ${name} has sslmode=verify-ca without sslrootcert: expected the file of its certificates`)
  return mode === 'require' || mode === 'verify-ca' ? { ...files, checkServerIdentity: () => undefined } : { ...files }
}
