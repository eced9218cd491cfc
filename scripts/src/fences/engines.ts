import { type Engine, findPostgres, findRedis, startPostgres, startRedis } from '../engines/index.ts'
import type { EngineName } from './addresses.ts'

const ENGINES = {
  redis: { url: 'SLUICE_REDIS_URL', find: findRedis, start: startRedis },
  postgres: { url: 'SLUICE_POSTGRES_URL', find: findPostgres, start: startPostgres },
} as const

export interface Engines {
  readonly urls: ReadonlyMap<EngineName, string>
  /** The reason why an engine is missing. */
  readonly missing: ReadonlyMap<EngineName, string>
  stop(): Promise<void>
}

/**
 * Provides the engines that documents name, as for the tests: by a URL in the environment, otherwise a server that is started for this run.
 */
export async function startEngines(names: ReadonlySet<EngineName>): Promise<Engines> {
  const urls = new Map<EngineName, string>()
  const missing = new Map<EngineName, string>()
  const started: Engine[] = []
  for (const name of names) {
    const { url, find, start } = ENGINES[name]
    const given = process.env[url] ?? ''
    const found = given === '' ? find() : undefined
    if (found === undefined) urls.set(name, given)
    else if ('missing' in found) missing.set(name, found.missing)
    else {
      const engine = await start(found.path)
      started.push(engine)
      urls.set(name, engine.url)
    }
  }
  const stop = async (): Promise<void> => void (await Promise.all(started.map((engine) => engine.stop())))
  return { urls, missing, stop }
}
