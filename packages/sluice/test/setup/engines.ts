import {
  type Engine,
  findChromium,
  findPostgres,
  findPromtool,
  findProxy,
  findRedis,
  PROXIES,
  type ProxyName,
  startPostgres,
  startRedis,
} from '@sluice/scripts/engines'
import type { TestProject } from 'vitest/node'

/** The servers and programs that tests may use. Each is undefined if it was not found and is not required. */
export interface Engines {
  readonly redis: string | undefined
  readonly postgres: string | undefined
  readonly chromium: string | undefined
  readonly promtool: string | undefined
  /** The programs, which the tests start with configurations of their own. */
  readonly proxies: Readonly<Record<ProxyName, string | undefined>>
}

declare module 'vitest' {
  export interface ProvidedContext {
    engines: Engines
  }
}

/**
 * Finds or starts the engines once for all test files. It uses a URL in the environment or, without one, starts a private server. The
 * program for that is on PATH, in Debian's places, or from apt-get. One line says what is missing. SLUICE_REQUIRE=redis,nginx makes it an
 * error if one of these is missing.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stops: (() => Promise<void>)[] = []
  const missing = new Map<string, string>()
  const required = new Set((process.env['SLUICE_REQUIRE'] ?? '').split(',').filter((name) => name !== ''))

  const server = async (
    name: string,
    url: string | undefined,
    find: typeof findRedis,
    start: (path: string) => Promise<Engine>,
  ): Promise<string | undefined> => {
    if (url !== undefined && url !== '') return url
    const found = find()
    if ('missing' in found) return void missing.set(name, found.missing)
    const engine = await start(found.path)
    stops.push(engine.stop)
    return engine.url
  }
  const redis = await server('redis', process.env['SLUICE_REDIS_URL'], findRedis, startRedis)
  const postgres = await server('postgres', process.env['SLUICE_POSTGRES_URL'], findPostgres, startPostgres)
  const program = (name: string, found: ReturnType<typeof findChromium>): string | undefined => {
    if ('path' in found) return found.path
    return void missing.set(name, found.missing)
  }
  const chromium = program('chromium', findChromium())
  const promtool = program('promtool', findPromtool())
  const proxies = Object.fromEntries(PROXIES.map((name) => [name, program(name, findProxy(name))])) as Engines['proxies']
  project.provide('engines', { redis, postgres, chromium, promtool, proxies })

  const lacking = [...missing.keys()].filter((name) => required.has(name))
  if (lacking.length > 0) {
    await Promise.all(stops.map((stop) => stop()))
    throw new Error(`SLUICE_REQUIRE names ${lacking.join(', ')}: ${lacking.map((name) => missing.get(name)).join('; ')}`)
  }
  if (missing.size > 0) console.log(`engines: suites skipped for ${[...missing].map(([name, why]) => `${name} (${why})`).join(', ')}`)
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}
