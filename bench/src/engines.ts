import { findPostgres, startPostgres } from '@sluice/scripts/engines'
import pg from 'pg'
import { openPrivateServer, type PrivateServer } from './server.ts'
import { MissingEngine, type SuiteOptions } from './suites/suite.ts'

/** A private PostgreSQL of this run. */
export interface PostgresServer {
  readonly url: string
  readonly version: string
  /** Its setting `synchronous_commit`. */
  readonly commits: string
}

/** Private servers, each started when it is first needed and stopped at the end. */
export interface Engines {
  /** Rejects with MissingEngine where there is no redis-server. */
  redis(): Promise<PrivateServer>
  /** Rejects with MissingEngine where there is no PostgreSQL. */
  postgres(): Promise<PostgresServer>
}

export function enginesOf({ atEnd }: Pick<SuiteOptions, 'atEnd'>, settings: readonly string[] = []): Engines {
  let redis: Promise<PrivateServer> | undefined
  let postgres: Promise<PostgresServer> | undefined
  return {
    redis: () => (redis ??= openPrivateServer({ atEnd })),
    postgres: () => (postgres ??= openPostgres({ atEnd }, settings)),
  }
}

/**
 * Starts a private PostgreSQL with these settings (`name=value`) in addition to the defaults; rejects with MissingEngine where there is
 * none.
 */
export async function openPostgres({ atEnd }: Pick<SuiteOptions, 'atEnd'>, settings: readonly string[] = []): Promise<PostgresServer> {
  const found = findPostgres()
  if ('missing' in found) throw new MissingEngine(`no PostgreSQL to measure: ${found.missing}`)
  const { url, stop } = await startPostgres(
    found.path,
    settings.flatMap((setting) => ['-c', setting]),
  )
  atEnd(stop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string; commits: string }>(
    `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits`,
  )
  await client.end()
  const [server] = rows
  // Debian writes the version of its package behind that of the server.
  return { url, version: server?.version.split(' ')[0] ?? 'of unknown version', commits: server?.commits ?? 'unknown' }
}

/** Both servers as far as they were started, in words. */
export async function enginesText(engines: Engines, used: readonly ('redis' | 'postgres')[]): Promise<string> {
  const parts: string[] = []
  if (used.includes('redis')) parts.push(`Redis ${(await engines.redis()).machine.redis}`)
  if (used.includes('postgres')) {
    const { version, commits } = await engines.postgres()
    parts.push(`PostgreSQL ${version} (synchronous_commit ${commits})`)
  }
  return `${parts.join(', ')}, private, on the loopback address`
}
