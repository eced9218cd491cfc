import type { ClientBase, ClientConfig, Pool } from 'pg'
import { usage } from '../cli/failure.ts'
import type { Query, Row } from './audit/postgres.ts'
import { countByStatistics } from './key-count.ts'
import { type Opener, SILENCE_MS } from './opening.ts'
import { withoutPassword } from './store-name.ts'
import { readTlsFiles, type TlsFiles } from './tls-files.ts'

const FILES = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' }
const SETTINGS = ['ssl', 'sslmode', 'sslnegotiation', 'uselibpqcompat']
const TLS_PARAMETERS: ReadonlySet<string> = new Set([...Object.values(FILES), ...SETTINGS])

/** The pool drops a connection on which the server no longer answers. */
export const postgres: Opener = async ({ url, connectMs, space, folder }) => {
  const [{ default: driver }, { pg, postgresStore }] = await Promise.all([import('pg'), import('sluice/postgres')])
  const bounds = { max: 16, connectionTimeoutMillis: connectMs, query_timeout: 2 * SILENCE_MS }
  // The URL may have options of its own, so a statement sets the search path.
  const onConnect = (client: ClientBase) => client.query(`set search_path to ${space}`) as unknown as void
  const place = space === undefined ? {} : { onConnect }
  const pool = new driver.Pool({ ...configOf(url, folder), ...bounds, ...place })
  const clients = new Set<InstanceType<typeof driver.Client>>()
  let reached = false
  let making: Promise<void> | undefined
  pool.on('connect', (client) => {
    reached = true
    // The pool listens only while a client is idle. Without this listener, a connection lost between two statements of a transaction would
    // end the process.
    client.on('error', () => {})
    if (client instanceof driver.Client) clients.add(client)
  })
  pool.on('remove', (client) => client instanceof driver.Client && clients.delete(client))
  // The pool replaces a lost idle connection.
  pool.on('error', () => {})
  // `onWarning` hides the warning about statement_timeout: this pool drops a silent connection after `query_timeout`.
  const concurrency = new URLSearchParams(url.split('?')[1]).get('concurrency') === 'compare-and-swap' ? 'compare-and-swap' : 'lock'
  const store = postgresStore({ client: pg(pool), concurrency, ring: false, onWarning: () => {} })
  const make = async (): Promise<void> => {
    if (space !== undefined) await pool.query(`create schema if not exists ${space}`)
    await store.migrate()
  }
  return {
    store,
    keeps: 'limits are kept and shared by all processes on this database',
    begin: () => (making = make()),
    migrate: store.migrate,
    advise: () => adviceOn(pool),
    async audit(request) {
      const { auditPostgres } = await import('./audit/postgres.ts')
      return readOnly(pool, (query) => auditPostgres({ query, url }, request))
    },
    countKeys: countByStatistics(async (statement, most) => (await pool.query(statement, [most])).rows[0]),
    discard: async () => {
      // A server that was never reached has no schema.
      if (space === undefined || !reached) return
      await making?.catch(() => {})
      await pool.query(`drop schema if exists ${space} cascade`)
    },
    close: async () => {
      const ended = pool.end()
      // The pool alone would wait for an answer that may never come.
      for (const client of clients) client.end(() => {})
      // Before the first connection, the pool's end would wait for an attempt to connect that ends by itself.
      if (reached) await ended
      else ended.catch(() => {})
    },
  }
}

async function readOnly<T>(pool: Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  try {
    await client.query('begin transaction isolation level repeatable read, read only')
    return await work(async (text, values) => (await client.query(text, [...(values ?? [])])).rows as Row[])
  } finally {
    // Closes the connection, which ends the transaction; nothing was written. After a query without an answer, ROLLBACK would hang too.
    client.release(true)
  }
}

/** None if the server does not answer. */
async function adviceOn(pool: Pool): Promise<readonly string[]> {
  const query = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as closed`
  const { rows } = await pool.query<{ standby: boolean; closed: boolean }>(query).catch(() => ({ rows: [] }))
  if (rows[0]?.standby === true) return ['is a read-only standby, which can decide nothing; name its primary']
  return rows[0]?.closed === true ? ['is read-only by default_transaction_read_only, and can decide nothing; set it to off'] : []
}

/**
 * Reads the files that the URL names: the client would read them without a bound, and wait for pipes. Then removes the URL's TLS
 * parameters, because the client prefers the URL's values.
 * @throws CommandFailure exit 3 for an invalid URL, for files that cannot be used, and for sslmode=verify-ca without a CA
 */
function configOf(url: string, folder: string): ClientConfig {
  // The client accepts other forms of URLs, whose parameters this function could not check.
  const [, place, query = '', hash = ''] = /^(postgres(?:ql)?:\/\/[^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(url) ?? []
  const name = withoutPassword(url)
  if (place === undefined) throw usage(`store ${name} is not the URL of a store: expected postgres://HOST:PORT/DATABASE`)
  const parameters = new Map(new URLSearchParams(query))
  if (!Object.values(FILES).some((file) => parameters.has(file))) return { connectionString: url }
  const ssl = tlsOf(parameters, readTlsFiles(parameters, FILES, folder), name)
  const isTls = (pair: string): boolean => [...new URLSearchParams(pair).keys()].some((key) => TLS_PARAMETERS.has(key))
  const rest = query.split('&').filter((pair) => !isTls(pair))
  const negotiation = parameters.get('sslnegotiation')
  return {
    connectionString: `${place}${rest.length === 0 ? '' : `?${rest.join('&')}`}${hash}`,
    ssl,
    ...(negotiation === undefined ? {} : { sslnegotiation: negotiation as 'postgres' | 'direct' }),
  }
}

/** Without `uselibpqcompat`, the client reads every mode but `disable` and `no-verify` as `verify-full`. */
function tlsOf(parameters: ReadonlyMap<string, string>, files: TlsFiles, name: string): ClientConfig['ssl'] {
  const [mode, compatible] = [parameters.get('sslmode'), parameters.get('uselibpqcompat') === 'true']
  if (mode === 'disable') return false
  if (!compatible) return mode === 'no-verify' ? { ...files, rejectUnauthorized: false } : { ...files }
  if (mode === 'prefer' || (mode === 'require' && files.ca === undefined)) return { ...files, rejectUnauthorized: false }
  if (mode === 'verify-ca' && files.ca === undefined)
    throw usage(`store ${name} has sslmode=verify-ca without sslrootcert: expected the file of its certificates`)
  return mode === 'require' || mode === 'verify-ca' ? { ...files, checkServerIdentity: () => undefined } : { ...files }
}
