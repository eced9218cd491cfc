import type { ClientConfig } from 'pg'
import { CommandFailure, EXIT } from '../failure.ts'
import { withoutPassword } from './store-name.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'

const FILES = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' }
const TLS_PARAMETERS: ReadonlySet<string> = new Set([...Object.values(FILES), 'ssl', 'sslmode', 'sslnegotiation', 'uselibpqcompat'])

/**
 * What the client connects with. Files of the URL are read here: the client would read them itself, without a bound and waiting for
 * pipes. Their parameters and those that set TLS are then left out of the URL, because the client prefers what the URL says.
 * @throws CommandFailure exit 3 for what is no URL of a server, for files that cannot be used, and for sslmode=verify-ca without a CA
 */
export function configOf(url: string, folder: string): ClientConfig {
  // The client reads parameters of shapes in which none were looked for here.
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

/** As the client reads `sslmode`: without `uselibpqcompat`, every mode but `disable` and `no-verify` is `verify-full`. */
function tlsOf(parameters: ReadonlyMap<string, string>, files: TlsFiles, name: string): ClientConfig['ssl'] {
  const [mode, compatible] = [parameters.get('sslmode'), parameters.get('uselibpqcompat') === 'true']
  if (mode === 'disable') return false
  if (!compatible) return mode === 'no-verify' ? { ...files, rejectUnauthorized: false } : { ...files }
  if (mode === 'prefer' || (mode === 'require' && files.ca === undefined)) return { ...files, rejectUnauthorized: false }
  if (mode === 'verify-ca' && files.ca === undefined)
    throw new CommandFailure(EXIT.usage, `store ${name} has sslmode=verify-ca without sslrootcert: expected the file of its certificates`)
  return mode === 'require' || mode === 'verify-ca' ? { ...files, checkServerIdentity: () => undefined } : { ...files }
}
