import { findRedis, startRedis } from '@sluice/scripts/engines'
import { machineOf, type RedisMachine } from './machine.ts'
import { MissingEngine, type SuiteOptions } from './suites/suite.ts'

/** A Redis to measure against. */
export interface Server {
  readonly url: string
  /** `private`: started for this run and stopped after it; `given`: SLUICE_REDIS_URL. */
  readonly origin: 'private' | 'given'
  readonly machine: RedisMachine
}

/** A server that nobody else talks to: its memory, its clock and its counters are what this run did to it. */
export interface PrivateServer extends Server {
  readonly pid: number
}

/** Starts a private redis-server whatever the environment says; rejects with MissingEngine where there is none to start. */
export async function openPrivateServer({ atEnd }: Pick<SuiteOptions, 'atEnd'>): Promise<PrivateServer> {
  const found = findRedis()
  if ('missing' in found) throw new MissingEngine(`no Redis to measure: ${found.missing}`)
  const engine = await startRedis(found.path).catch((error: unknown) => {
    throw new MissingEngine(`no Redis to measure: ${firstLine(error)}`, { cause: error })
  })
  atEnd(engine.stop)
  const { url, pid } = engine
  return { url, pid, origin: 'private', machine: await describe(url, 'the private redis-server') }
}

/** The server SLUICE_REDIS_URL names, else a private one of this run's own; rejects with MissingEngine where there is neither. */
export async function openServer({ atEnd }: Pick<SuiteOptions, 'atEnd'>): Promise<Server> {
  const given = process.env['SLUICE_REDIS_URL'] ?? ''
  if (given !== '') return { url: given, origin: 'given', machine: await describe(given, 'the Redis of SLUICE_REDIS_URL') }
  return openPrivateServer({ atEnd })
}

async function describe(url: string, name: string): Promise<RedisMachine> {
  return machineOf(url).catch((error: unknown) => {
    throw new MissingEngine(`no Redis to measure: ${name} does not answer: ${firstLine(error)}`, { cause: error })
  })
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] as string
}
