import { type Engine, findPostgres, findRedis, startPostgres, startRedis } from '@sluice/scripts/engines'
import { Redis } from 'ioredis'
import pg from 'pg'

/** A private redis-server of this run. Its memory and its counters show the effect of this run alone. */
export interface RedisServer {
  readonly url: string
  readonly pid: number
  readonly version: string
}

/** A private PostgreSQL of this run. */
export interface PostgresServer {
  readonly url: string
  readonly version: string
  /** The server's setting `synchronous_commit`. */
  readonly commits: string
}

/** Private servers, each started when it is first needed and stopped at the end. */
export interface Engines {
  /** Rejects with MissingEngine if there is no redis-server. */
  redis(): Promise<RedisServer>
  /** Rejects with MissingEngine if there is no PostgreSQL. */
  postgres(): Promise<PostgresServer>
  /** Adds a server that a part started itself, such as a cluster, to the description of its results. */
  note(server: string): void
  /** The servers that were used since the last time, in words. */
  used(): string
}

export interface EnginesOptions {
  /** Registers what must be undone at the end, even if the run is interrupted. */
  readonly atEnd: (undo: () => Promise<void>) => void
  /** Settings of PostgreSQL (`name=value`) in addition to its defaults. */
  readonly postgres?: readonly string[]
}

/** A server that a part needs is missing. Only the message is shown, without a stack. */
export class MissingEngine extends Error {
  override readonly name = 'MissingEngine'
}

export function enginesOf({ atEnd, postgres: settings = [] }: EnginesOptions): Engines {
  let redis: Promise<RedisServer> | undefined
  let postgres: Promise<PostgresServer> | undefined
  const used = new Set<string>()
  return {
    async redis() {
      const server = await (redis ??= openRedis(atEnd))
      used.add(`Redis ${server.version}`)
      return server
    },
    async postgres() {
      const server = await (postgres ??= openPostgres(atEnd, settings))
      used.add(`PostgreSQL ${server.version} (synchronous_commit ${server.commits})`)
      return server
    },
    note: (server) => void used.add(server),
    used() {
      const text = used.size === 0 ? 'no server' : `${[...used].join(', ')}, private, on the loopback address`
      used.clear()
      return text
    },
  }
}

/**
 * Registers the stop of an engine before it has started, so that a run that is interrupted during the start leaves no process and no
 * folder.
 */
export function stoppedAtEnd(starting: Promise<Engine>, { atEnd }: Pick<EnginesOptions, 'atEnd'>): Promise<Engine> {
  // An engine that did not start has removed its folder.
  atEnd(() =>
    starting.then(
      ({ stop }) => stop(),
      () => undefined,
    ),
  )
  return starting
}

async function openRedis(atEnd: EnginesOptions['atEnd']): Promise<RedisServer> {
  const found = findRedis()
  if ('missing' in found) throw new MissingEngine(`no Redis to measure: ${found.missing}`)
  const { url, pid } = await stoppedAtEnd(startRedis(found.path), { atEnd })
  const client = new Redis(url)
  try {
    const version = /^(?:valkey|redis)_version:(\S+)/m.exec(await client.info('server'))?.[1] ?? 'of unknown version'
    return { url, pid, version }
  } finally {
    client.disconnect()
  }
}

async function openPostgres(atEnd: EnginesOptions['atEnd'], settings: readonly string[]): Promise<PostgresServer> {
  const found = findPostgres()
  if ('missing' in found) throw new MissingEngine(`no PostgreSQL to measure: ${found.missing}`)
  const starting = startPostgres(
    found.path,
    settings.flatMap((setting) => ['-c', setting]),
  )
  const { url } = await stoppedAtEnd(starting, { atEnd })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string; commits: string }>(
    `select current_setting('server_version') as version, current_setting('synchronous_commit') as commits`,
  )
  await client.end()
  const [server] = rows
  // Debian adds the version of its package after that of the server.
  return { url, version: server?.version.split(' ')[0] ?? 'of unknown version', commits: server?.commits ?? 'unknown' }
}
